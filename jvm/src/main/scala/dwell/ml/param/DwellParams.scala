package dwell.ml.param

import org.apache.spark.ml.param.Param

import dwell.problem.{Algorithm, Orientation}

/**
 * The Params that Dwell adds to Spark's own linear estimators.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | orientation | auto | whether coordinates are features or rows: see [[orientation]] |
 * | stepSize | auto | first step size of local SGD |
 */
trait DwellParams extends AlgorithmParams {

  private[ml] final override def algorithms: Seq[Algorithm] = Algorithm.all

  /**
   * `primal`: coordinates are features, and workers exchange a vector with one entry for each row. `dual`: coordinates
   * are rows, and workers exchange a vector with one entry for each feature; it needs an L2 penalty. `auto`: the
   * cheapest one that the problem allows.
   */
  final val orientation: Param[String] =
    ParamValues.choice(this, "orientation", "orientation of CoCoA", Orientation.choices)

  /**
   * The first step size of local SGD, a positive number. `auto` searches for it on a sample, multiplies it by the
   * number of workers, and raises it when an epoch improves little.
   */
  final val stepSize: Param[String] = new Param[String](
    this,
    "stepSize",
    "first step size of local SGD (> 0), or auto",
    (value: String) =>
      value == ParamValues.Auto || ParamValues.positive(value).nonEmpty || {
        throw new IllegalArgumentException(s"stepSize must be 'auto' or a positive number, but was '$value'.")
      })

  setDefault(orientation -> ParamValues.Auto, stepSize -> ParamValues.Auto)

  final def getOrientation: String = $(orientation)
  final def getStepSize: String = $(stepSize)
}
