package dwell.bench

import java.nio.file.{Files, Path}

import org.apache.spark.{SparkContext, SparkEnv}

/** @param cpu CPU seconds of all processes */
private[bench] final case class Spent(cpu: Double, seconds: Double) {
  def -(other: Spent): Spent = Spent(cpu - other.cpu, seconds - other.seconds)
  def +(other: Spent): Spent = Spent(cpu + other.cpu, seconds + other.seconds)
}

/**
 * CPU seconds of the driver's process and of those of all executors, with everything that the JVM does beside the tasks, such
 * as compiling and collecting garbage. All of them have to be on this machine, which has to be Linux.
 */
private[bench] final class ClusterClock(sc: SparkContext) {
  import ClusterClock._

  /** The executors that are there now; fits that are measured must not lose any. */
  private val processes: Seq[Path] = {
    val executors = math.max(1, sc.statusTracker.getExecutorInfos.length - 1)
    val tasks = TasksAnExecutor * executors
    val found = sc
      .parallelize(0 until tasks, tasks)
      .map { _ =>
        // An executor that is done at once would get them all.
        Thread.sleep(20L)
        (SparkEnv.get.executorId, ProcessHandle.current().pid())
      }
      .collect()
      .distinct
    require(found.length == executors, s"of $executors executors ${found.length} answered")
    (found.map(_._2) :+ ProcessHandle.current().pid()).distinct.toSeq.map(pid => Path.of(s"/proc/$pid/stat"))
  }

  /** Since any time. */
  def now(): Spent = Spent(processes.map(cpu).sum, System.nanoTime() * 1e-9)

  def measured[T](body: => T): (T, Spent) = {
    val start = now()
    val result = body
    (result, now() - start)
  }
}

private[bench] object ClusterClock {
  private val TasksAnExecutor = 16

  /** USER_HZ of Linux. */
  private val TicksASecond = 100.0

  /** User and system time of a process, by proc_pid_stat(5): fields 14 and 15, where the name of field 2 may have blanks in it. */
  private def cpu(stat: Path): Double = {
    val text = Files.readString(stat)
    val fields = text.substring(text.lastIndexOf(')') + 2).split(' ')
    (fields(11).toLong + fields(12).toLong) / TicksASecond
  }
}
