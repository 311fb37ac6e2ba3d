package dwell.base

import org.apache.spark.{DwellBridge, SparkContext}

/**
 * The memory of executors, as Spark divides it: of a heap of 1 GB it gives cached blocks and its own work 434 MiB together.
 * A partition is one object of about as much memory again, beside these, when a task puts it together or reads it from
 * disk.
 */
private[dwell] object ExecutorMemory {

  /** The bytes that the partition of a task may take; None before executors have come up. */
  def ofPartition(sc: SparkContext): Option[Long] = {
    val slots = DwellBridge.slots(sc)
    val all = DwellBridge.memory(sc).map(_._1).sum
    if (slots > 0 && all > 0L) Some((ShareOfPartition * (all / slots)).toLong) else None
  }

  /** Whether every executor has as much memory left as it uses for cached blocks. */
  def isPlentiful(sc: SparkContext): Boolean = DwellBridge.memory(sc).forall { case (all, left) => 2L * left >= all }

  /** With 0.6, executors of 1 GB train on 100,000 rows of 400 doubles in as many partitions as there are. */
  private val ShareOfPartition = 0.6
}
