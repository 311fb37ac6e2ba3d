package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators, Params}

import dwell.fit.{Aggregation, DwellConf}

/**
 * The Params of everything that is trained by rounds of workers.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | aggregation | auto | how updates travel between rounds |
 * | numWorkers | 0 | number of partitions that train side by side; 0 chooses by the size of the data |
 */
trait WorkerParams extends Params {

  /**
   * How updates travel; the model is the same to the last bit, with linear models where `localWork` is set. `driver`: one Spark
   * job a round, updates are added on the driver. `shuffle`: the same, but updates are added where the workers are, in slices,
   * and one vector comes to the driver. `gang`: one barrier stage for the whole fit, whose tasks send updates to each other;
   * where it cannot run, one of the others takes over after one WARN. `auto`: gang.
   */
  final val aggregation: Param[String] =
    ParamValues.choice(this, "aggregation", "how updates travel between rounds", Aggregation.choices)

  /** Number of partitions that train side by side; 0 chooses by the size of the data and the cluster's slots. */
  final val numWorkers: IntParam = new IntParam(
    this,
    "numWorkers",
    "number of partitions that train side by side (>= 0); 0 chooses by the size of the data",
    ParamValidators.gtEq(0))

  setDefault(aggregation -> ParamValues.Auto, numWorkers -> 0)

  final def getAggregation: String = $(aggregation)
  final def getNumWorkers: Int = $(numWorkers)

  /** What the Param says, or else the session. */
  private[ml] final def chosenAggregation(conf: DwellConf): Option[Aggregation] =
    if (isSet(aggregation)) Aggregation.named($(aggregation)) else conf.aggregation
}
