package dwell.bench.anatomy

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.{BenchBridge, SparkContext}

/** Bytes of cached blocks, as Spark counts them. */
private[bench] final case class Held(memory: Long, disk: Long) {
  def max(other: Held): Held = Held(math.max(memory, other.memory), math.max(disk, other.disk))
}

/**
 * The cached blocks of RDDs that were not cached when the watch began. Buffers of running tasks are not among them. Spark tells
 * of each change at once if `spark.ui.liveUpdate.period` is 0.
 */
private[bench] final class StorageWatch(sc: SparkContext) {
  import StorageWatch._

  private val before = sc.getPersistentRDDs.keySet

  /** What is held now, once Spark has counted it. */
  def now: Held = {
    BenchBridge.awaitListeners(sc)
    counted
  }

  private def counted: Held = {
    val blocks = sc.getRDDStorageInfo.filterNot(info => before.contains(info.id))
    Held(blocks.map(_.memSize).sum, blocks.map(_.diskSize).sum)
  }

  /** What `body` gives, and the most that was held meanwhile. */
  def peak[T](body: => T): (T, Held) = {
    val most = new AtomicReference(now)
    val sampler = new Thread(() =>
      try
        while (true) {
          most.updateAndGet(_.max(counted))
          Thread.sleep(EveryMillis)
        }
      catch { case _: InterruptedException => () })
    sampler.setDaemon(true)
    sampler.start()
    val result =
      try body
      finally {
        sampler.interrupt()
        sampler.join()
      }
    (result, most.get.max(now))
  }
}

private[bench] object StorageWatch {
  private val EveryMillis = 20L
}
