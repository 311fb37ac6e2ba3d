package dwell.cluster

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReference

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, Success}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved, SparkListenerTaskEnd}

/** What went wrong while a fit ran, and the most bytes of memory that a task has seen in its executor. */
private[cluster] final class MemoryWatch extends SparkListener {
  import MemoryWatch._

  private val lost = new ConcurrentLinkedQueue[String]
  private val most = new AtomicReference(Peak(0L, 0L, 0L))

  override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = {
    lost.add(s"executor ${event.executorId} was lost: ${event.reason}")
    ()
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    if (event.reason != Success) lost.add(event.reason.toString.take(MostCharacters))
    def peak(metric: String): Long = event.taskExecutorMetrics.getMetricValue(metric)
    most.updateAndGet(_.max(Peak(peak("JVMHeapMemory"), peak("OnHeapStorageMemory"), peak("ProcessTreeJVMRSSMemory"))))
    ()
  }

  /** Executors that were lost and tasks that failed, in words. */
  def losses: Seq[String] = lost.asScala.toSeq

  def peak: Peak = most.get
}

private[cluster] object MemoryWatch {

  /** Bytes of one executor: of its heap, of that for Spark's cached blocks, and of the whole process. */
  final case class Peak(heap: Long, storage: Long, process: Long) {
    def max(other: Peak): Peak =
      Peak(math.max(heap, other.heap), math.max(storage, other.storage), math.max(process, other.process))

    override def toString: String =
      s"heap ${heap >> 20} MiB, cached blocks ${storage >> 20} MiB, process ${process >> 20} MiB"
  }

  /** Watches while `body` runs. */
  def during[T](sc: SparkContext)(body: => T): (T, MemoryWatch) = {
    val watch = new MemoryWatch
    sc.addSparkListener(watch)
    try body -> watch
    finally sc.removeSparkListener(watch)
  }

  private val MostCharacters = 2000
}
