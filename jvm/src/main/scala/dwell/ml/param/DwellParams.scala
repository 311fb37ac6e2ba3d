package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators, Params}

import dwell.solver.{Aggregation, Algorithm, Orientation}

/**
 * The Params that Dwell adds to Spark's own estimators.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | algorithm | auto | what trains: see [[algorithm]] |
 * | orientation | auto | which variable the coordinates belong to: see [[orientation]] |
 * | localWork | auto | local coordinate steps in a round, as a fraction of the local coordinates |
 * | aggregation | auto | how updates travel between rounds |
 * | numWorkers | 0 | number of partitions that train side by side; 0 chooses by the size of the data |
 */
trait DwellParams extends Params {

  /**
   * The training algorithm. `cocoa`: CoCoA, always. `auto`: CoCoA where it gives a certificate of optimality, Spark's own
   * solver otherwise, after one WARN. `mini-batch-scd` and `mini-batch-sgd`: what CoCoA is compared with, coordinate steps
   * that do not see one another and gradient steps, a batch of `localWork` epochs (1 at most) in a round. (`solver` is
   * Spark's Param and keeps Spark's meaning: it decides which of Spark's two definitions of the objective is minimised.)
   */
  final val algorithm: Param[String] =
    DwellParams.choice(this, "algorithm", "training algorithm", DwellParams.algorithms)

  /**
   * `primal`: coordinates are features, and a vector with one entry a row is exchanged. `dual`: coordinates are rows, and
   * a vector with one entry a feature is exchanged; it exists where there is an L2 penalty. `auto`: the cheaper of those
   * that exist.
   */
  final val orientation: Param[String] =
    DwellParams.choice(this, "orientation", "orientation of CoCoA", DwellParams.orientations)

  /**
   * Local work H of a round: coordinate steps as a fraction of the local coordinates (1 is one epoch, 0.5 half of one,
   * 4 four; a mini-batch has one at most), or `auto`.
   */
  final val localWork: Param[String] = new Param[String](
    this,
    "localWork",
    "local work in a round, as a fraction of the local coordinates (> 0), or auto",
    (value: String) =>
      value == DwellParams.Auto || DwellParams.fraction(value).nonEmpty || {
        throw new IllegalArgumentException(
          s"localWork must be 'auto' or a positive number (1 is one epoch over the local coordinates), but was '$value'.")
      })

  /**
   * How updates travel; the model is the same to the last bit where `localWork` is set. `driver`: one Spark job a round, updates
   * are added on the driver. `shuffle`: the same, but updates are added where the workers are, in slices, and one vector comes
   * to the driver. `gang`: one barrier stage for the whole fit, whose tasks send updates to each other; where it cannot run, one
   * of the others takes over after one WARN. `auto`: gang.
   */
  final val aggregation: Param[String] =
    DwellParams.choice(this, "aggregation", "how updates travel between rounds", Aggregation.choices)

  /** Number of partitions that train side by side; 0 chooses by the size of the data and the cluster's slots. */
  final val numWorkers: IntParam = new IntParam(
    this,
    "numWorkers",
    "number of partitions that train side by side (>= 0); 0 chooses by the size of the data",
    ParamValidators.gtEq(0))

  setDefault(
    algorithm -> DwellParams.Auto,
    orientation -> Orientation.Auto,
    localWork -> DwellParams.Auto,
    aggregation -> DwellParams.Auto,
    numWorkers -> 0)

  final def getAlgorithm: String = $(algorithm)
  final def getOrientation: String = $(orientation)
  final def getLocalWork: String = $(localWork)
  final def getAggregation: String = $(aggregation)
  final def getNumWorkers: Int = $(numWorkers)
}

object DwellParams {
  val Auto = "auto"

  private val algorithms = Auto +: Algorithm.all.map(_.name)
  private val orientations = Seq(Orientation.Auto, Orientation.Primal, Orientation.Dual)

  /** The value of `localWork` as a positive finite number, where it is one. */
  private[ml] def fraction(value: String): Option[Double] =
    value.toDoubleOption.filter(h => h > 0.0 && !h.isInfinite)

  /** A Param with a closed list of values, whose error names the list: Spark's own message does not. */
  private[ml] def choice(parent: Params, name: String, doc: String, allowed: Seq[String]): Param[String] = {
    val list = allowed.mkString(", ")
    new Param[String](
      parent,
      name,
      s"$doc: one of $list",
      (value: String) =>
        allowed.contains(value) || {
          throw new IllegalArgumentException(s"$name must be one of $list, but was '$value'.")
        })
  }
}
