package org.apache.spark

/** Members of the table of shuffles that are private to Spark. */
object Shuffles {

  /** Whether the driver has not yet asked executors to delete the files of the shuffle. */
  def isRegistered(id: Int): Boolean =
    SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster].containsShuffle(id)
}
