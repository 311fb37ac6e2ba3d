package dwell.ml.param

import org.apache.spark.ml.param.Param

import dwell.problem.{Algorithm, Orientation}

/**
 * The Params that Dwell adds to Spark's own linear estimators.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | algorithm | auto | training algorithm: see [[algorithm]] |
 * | orientation | auto | whether coordinates are features or rows: see [[orientation]] |
 * | localWork | auto | local coordinate steps in a round, as a fraction of the local coordinates |
 * | aggregation | auto | how updates travel between rounds |
 * | numWorkers | 0 | number of partitions that train side by side; 0 chooses by the size of the data |
 * | stepSize | auto | first step size of local SGD |
 */
trait DwellParams extends WorkerParams {

  /**
   * The training algorithm. `auto`: `newton` where features are few and it is forecast to be fastest; otherwise `l-bfgs` for
   * `LogisticRegression` with up to 12 times as many features as rows and without a penalty, and CoCoA for the rest. `newton`: Newton's method. `cocoa`: CoCoA, also
   * without a certificate. `ma-sgd`: local SGD with averages of the workers' models, for very many rows, if a good model soon is worth more
   * than a certificate later. `l-bfgs`: as Spark, with native gradients. (`solver` is Spark's Param and keeps Spark's meaning: it decides
   * which of Spark's two definitions of the objective is minimised.)
   */
  final val algorithm: Param[String] =
    ParamValues.choice(this, "algorithm", "training algorithm", DwellParams.algorithms)

  /**
   * `primal`: coordinates are features, and workers exchange a vector with one entry for each row. `dual`: coordinates
   * are rows, and workers exchange a vector with one entry for each feature; it needs an L2 penalty. `auto`: the
   * cheapest one that the problem allows.
   */
  final val orientation: Param[String] =
    ParamValues.choice(this, "orientation", "orientation of CoCoA", Orientation.choices)

  /**
   * The local work H of a round: coordinate steps as a fraction of the local coordinates (1 is one epoch, 0.5 half an
   * epoch, 4 four epochs), or `auto`. With `ma-sgd`: passes over the local rows, 1 for
   * `auto`.
   */
  final val localWork: Param[String] = new Param[String](
    this,
    "localWork",
    "local work in a round, as a fraction of the local coordinates (> 0), or auto",
    (value: String) =>
      value == ParamValues.Auto || ParamValues.positive(value).nonEmpty || {
        throw new IllegalArgumentException(
          s"localWork must be 'auto' or a positive number (1 is one epoch over the local coordinates), but was '$value'.")
      })

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

  setDefault(
    algorithm -> ParamValues.Auto,
    orientation -> ParamValues.Auto,
    localWork -> ParamValues.Auto,
    stepSize -> ParamValues.Auto)

  final def getAlgorithm: String = $(algorithm)
  final def getOrientation: String = $(orientation)
  final def getLocalWork: String = $(localWork)
  final def getStepSize: String = $(stepSize)
}

object DwellParams {
  private val algorithms = ParamValues.Auto +: Algorithm.all.map(_.name)
}
