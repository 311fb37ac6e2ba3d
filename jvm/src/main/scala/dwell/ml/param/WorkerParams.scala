package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators, Params}

import dwell.fit.Aggregation

/**
 * The Params of all estimators that train by rounds of workers.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | aggregation | auto | how updates travel between rounds |
 * | numWorkers | 0 | number of partitions that train side by side; 0 chooses by the size of the data |
 */
trait WorkerParams extends Params {

  /**
   * How updates travel. All modes give the same model to the last bit; for linear models only if `localWork` is set.
   * `driver`: one Spark job for each round; the driver adds the updates. `shuffle`: one Spark job for each round; the
   * executors add the updates in slices, and one vector comes to the driver. `gang`: one barrier stage for the whole
   * fit, whose tasks send updates to each other; if it cannot run, another mode takes over after one WARN. `auto`:
   * `gang`.
   */
  final val aggregation: Param[String] =
    ParamValues.choice(this, "aggregation", "how updates travel between rounds", Aggregation.choices)

  /** The number of partitions that train side by side; 0 chooses by the size of the data and the cluster's slots. */
  final val numWorkers: IntParam = new IntParam(
    this,
    "numWorkers",
    "number of partitions that train side by side (>= 0); 0 chooses by the size of the data",
    ParamValidators.gtEq(0))

  setDefault(aggregation -> ParamValues.Auto, numWorkers -> 0)

  final def getAggregation: String = $(aggregation)
  final def getNumWorkers: Int = $(numWorkers)

  /** The value of the Param; None for `auto`. */
  private[ml] final def chosenAggregation: Option[Aggregation] = Aggregation.named($(aggregation))
}
