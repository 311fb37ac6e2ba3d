package org.apache.spark

/** What is private to Spark of its shuffles. */
object Shuffles {

  /** Whether the driver has not yet asked executors to delete the files of the shuffle. */
  def isRegistered(id: Int): Boolean =
    SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster].containsShuffle(id)

  /** Whether a service outside of this executor keeps the files of its shuffles. */
  def areServed: Boolean = {
    val blocks = SparkEnv.get.blockManager
    blocks.shuffleServerId != blocks.blockManagerId
  }
}
