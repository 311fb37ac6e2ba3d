package org.apache.spark

/**
 * The memory of executors that Spark divides between cached blocks and its own work: 434 MiB of a heap of 1 GB. It sees no
 * objects but those that it caches.
 */
object ExecutorMemory {

  /** The bytes for each task that runs at a time; None before executors have come up. */
  def ofSlot(sc: SparkContext): Option[Long] = {
    val slots = DwellBridge.slots(sc)
    val all = executors(sc).map(_._1).sum
    if (slots > 0 && all > 0L) Some(all / slots) else None
  }

  /** Whether every executor has as much memory left as it uses for cached blocks. */
  def isPlentiful(sc: SparkContext): Boolean = executors(sc).forall { case (all, left) => 2L * left >= all }

  /** Of each executor that is registered now, all bytes, and those that no cached block takes. */
  private def executors(sc: SparkContext): Seq[(Long, Long)] =
    sc.env.blockManager.master.getMemoryStatus.toSeq.collect {
      case (executor, bytes) if sc.isLocal || !executor.isDriver => bytes
    }
}
