package org.apache.spark

/** What shuffles have written, for tests. */
object ShuffleOutputs {

  /** Makes Spark forget them, as it does when it loses an executor. Local mode has one. */
  def lose(): Unit = SparkEnv.get.mapOutputTracker match {
    case tracker: MapOutputTrackerMaster => tracker.removeOutputsOnExecutor(SparkContext.DRIVER_IDENTIFIER)
  }
}
