package dwell.cluster

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReference

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, Success}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorRemoved, SparkListenerTaskEnd}

/** What went wrong while a fit ran, and the most bytes that Spark has seen in an executor. */
private[cluster] final class MemoryWatch extends SparkListener {
  import MemoryWatch._

  private val lost = new ConcurrentLinkedQueue[String]
  private val most = new AtomicReference(Peak(0L, 0L, 0L, 0L))

  override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = {
    lost.add(s"executor ${event.executorId} was lost: ${event.reason}")
    ()
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    if (event.reason != Success) lost.add(event.reason.toString.take(MostCharacters))
    def peak(metric: String): Long = event.taskExecutorMetrics.getMetricValue(metric)
    val seen = Seq("JVMHeapMemory", "OnHeapStorageMemory", "JVMOffHeapMemory", "DirectPoolMemory").map(peak)
    most.updateAndGet(_.max(Peak(seen(0), seen(1), seen(2), seen(3))))
    ()
  }

  /** Executors that were lost and tasks that failed, in words. */
  def losses: Seq[String] = lost.asScala.toSeq

  def peak: Peak = most.get
}

private[cluster] object MemoryWatch {

  /** Bytes of one executor: used of its heap, of that for cached blocks; for classes and compiled code, and of direct buffers. */
  final case class Peak(heap: Long, storage: Long, code: Long, direct: Long) {
    def max(other: Peak): Peak = Peak(
      math.max(heap, other.heap),
      math.max(storage, other.storage),
      math.max(code, other.code),
      math.max(direct, other.direct))

    override def toString: String =
      s"heap ${heap >> 20} MiB, cached blocks ${storage >> 20} MiB, code ${code >> 20} MiB, direct ${direct >> 20} MiB"
  }

  /** In bytes: what this process has of memory now, and the most it ever had, both without its heap, which is all there. */
  final case class Outside(now: Long, most: Long)

  def outsideOfHeap(): Outside = {
    val status = new String(Files.readAllBytes(Paths.get("/proc/self/status")), US_ASCII).linesIterator.toSeq
    def bytes(name: String): Long =
      status.find(_.startsWith(s"$name:")).get.filter(_.isDigit).toLong * 1024L - Runtime.getRuntime.maxMemory()
    Outside(bytes("VmRSS"), bytes("VmHWM"))
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
