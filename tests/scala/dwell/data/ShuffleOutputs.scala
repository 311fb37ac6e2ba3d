package org.apache.spark

/** What shuffles have written, for tests. */
object ShuffleOutputs {

  /** The shuffles that Spark keeps files of. */
  def ids: Set[Int] = tracker.shuffleStatuses.keySet.toSet

  /** Makes Spark forget them, as it does when it loses an executor. Local mode has one. */
  def lose(): Unit = tracker.removeOutputsOnExecutor(SparkContext.DRIVER_IDENTIFIER)

  private def tracker: MapOutputTrackerMaster = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
}
