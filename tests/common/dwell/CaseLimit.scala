package dwell

import java.lang.management.{ManagementFactory, ThreadInfo}

/** A limit for the time of a test case, so that one that hangs fails, shows where, and lets the others run. */
object CaseLimit {

  /** A case took longer than its limit; the cause is what it threw when it was interrupted. */
  final class ExceededException private[CaseLimit] (message: String, cause: Throwable)
      extends RuntimeException(message, cause)

  /**
   * Runs `body` in this thread. After `seconds`, or ten times as many in checkLong or under emulation, it prints what all threads do and interrupts
   * this one. A case that goes on nevertheless ends the JVM: no other could run beside it, and the output has those that ended.
   *
   * @throws ExceededException
   *   if `body` has taken longer, however it ended
   */
  def apply[T](name: String, seconds: Double)(body: => T): T =
    run(name, if (isSlow) 10 * seconds else seconds, GraceSeconds)(body)

  private def isSlow = CheckLong.everything || sys.env.contains("DWELL_EMULATED")

  private[dwell] def run[T](name: String, seconds: Double, graceSeconds: Double)(body: => T): T = {
    val watch = new Watch(name, seconds, graceSeconds)
    watch.setDaemon(true)
    watch.start()
    val result =
      try Right(body)
      catch { case e: Throwable => Left(e) }
    if (watch.finish()) throw new ExceededException(watch.exceeded, result.left.toOption.orNull)
    result.fold(throw _, identity)
  }

  /** Watches the thread that makes it. */
  private final class Watch(name: String, seconds: Double, graceSeconds: Double) extends Thread("limit of a case") {
    private val watched = Thread.currentThread
    private var ended = false
    private var interrupted = false

    val exceeded = s"case $name has run for more than ${inWords(seconds)}"

    override def run(): Unit = synchronized {
      waitForEnd(seconds)
      if (!ended) {
        println(exceeded)
        allThreads.foreach(println)
        interrupted = true
        watched.interrupt()
        waitForEnd(graceSeconds)
        if (!ended) {
          println(s"FAILED  $name: it goes on ${inWords(graceSeconds)} after it was interrupted, so the JVM ends")
          System.out.flush()
          Runtime.getRuntime.halt(HaltStatus)
        }
      }
    }

    /** Called by the watched thread at the end; whether the limit had passed. The interrupt does not outlive the case. */
    def finish(): Boolean = synchronized {
      ended = true
      notifyAll()
      if (interrupted) Thread.interrupted()
      interrupted
    }

    private def waitForEnd(seconds: Double): Unit = {
      val end = System.nanoTime() + (seconds * 1e9).toLong
      def left = (end - System.nanoTime()) / 1000000L
      while (!ended && left > 0L) wait(left)
    }
  }

  /** What every thread does, in lines, with the whole of its stack: `ThreadInfo.toString` stops at eight frames. */
  private def allThreads: Seq[String] =
    ManagementFactory.getThreadMXBean.dumpAllThreads(true, true).toSeq.flatMap(linesOf)

  private def linesOf(thread: ThreadInfo): Seq[String] = {
    def waitsFor = Option(thread.getLockName).map { lock =>
      s" on $lock" + Option(thread.getLockOwnerName).fold("")(owner => " of \"" + owner + "\"")
    }
    val title = "  \"" + thread.getThreadName + "\" " + thread.getThreadState + waitsFor.getOrElse("")
    val frames = thread.getStackTrace.toSeq.zipWithIndex.flatMap { case (frame, depth) =>
      val held = thread.getLockedMonitors.toSeq.filter(_.getLockedStackDepth == depth)
      s"      at $frame" +: held.map(monitor => s"      - holds $monitor")
    }
    (title +: frames) ++ thread.getLockedSynchronizers.map(lock => s"      - holds $lock")
  }

  private def inWords(seconds: Double): String = s"${BigDecimal(seconds).bigDecimal.stripTrailingZeros.toPlainString} s"

  /** Time for a case to notice the interrupt and to clean up. */
  private val GraceSeconds = 20.0

  private val HaltStatus = 3
}
