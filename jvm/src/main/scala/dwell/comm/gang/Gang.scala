package dwell.comm.gang

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.{Await, TimeoutException}
import scala.concurrent.duration._
import scala.reflect.ClassTag
import scala.util.Failure

import org.apache.spark.{BlockExchange, DwellBridge, Rendezvous, SerializableWritable, SimpleFutureAction, SparkContext, SparkException}
import org.apache.spark.rdd.RDD

import dwell.comm.{OnExecutors, Replicas, Workers}
import dwell.comm.wire.VectorFormat
import dwell.spark.Cargo

/**
 * The `gang` mode: one barrier stage for a whole fit. Its first task leads: it sends messages to the other tasks and
 * adds their answers. Both travel as blocks that executors push to each other. No exchange needs the driver or the
 * scheduler.
 *
 * If a task fails or an executor is lost, the stage fails, and Spark does not start it again. The next leader must be
 * able to go on from the models that are left.
 */
object Gang {

  /** The tasks of a gang did not get their slots. The fit has lost nothing, and the gang leaves nothing to clean up. */
  final class StalledException(message: String) extends Exception(message)

  /** A task failed, or an executor was lost. A new gang may succeed. */
  final class BrokenException(cause: SparkException) extends Exception(cause.getMessage, cause)

  /** The reason why a gang of `members` tasks cannot run here; None if it can. */
  def impossible(sc: SparkContext, members: Int): Option[String] = {
    lazy val slots = DwellBridge.slots(sc)
    if (DwellBridge.dynamicAllocation(sc)) {
      Some(
        "dynamic allocation is on, which Spark does not combine with barrier stages (SPARK-24942); " +
          "spark.dynamicAllocation.enabled=false switches it off")
    } else if (slots < members) {
      Some(s"$members tasks have to run at once, and the cluster has $slots slots; lower numWorkers or add executors")
    } else None
  }

  /** The same, but waits up to `patienceMillis` for executors that are starting. */
  def impossible(sc: SparkContext, members: Int, patienceMillis: Long): Option[String] = {
    val latest = System.nanoTime() + patienceMillis * 1000000L
    var reason = impossible(sc, members)
    while (reason.nonEmpty && System.nanoTime() < latest) {
      Thread.sleep(PollMillis)
      reason = impossible(sc, members)
    }
    reason
  }

  /**
   * Runs `lead` in the first task of a barrier stage over `data`, and `step` in all of them.
   *
   * @param name
   *   unique within the application
   * @param fit
   *   id of the fit whose models the workers hold
   * @param patienceMillis
   *   how long the stage may wait for slots, and its tasks all for one another
   * @param lead
   *   runs on an executor. It gets the workers, and a function that sends a message to the driver. An exception of it
   *   is thrown here if a second try would throw it again ([[dwell.spark.TaskFailure.isFinal]])
   * @param told
   *   called on the driver with each message of the leader, in a thread of Spark
   * @param watch
   *   called about every 100 ms by the thread that waits here
   * @throws StalledException
   *   if no task has run for `patienceMillis`
   * @throws BrokenException
   *   if the stage failed, or a message between its tasks was lost
   */
  def run[D: ClassTag, M, S: ClassTag, R](
      data: RDD[D],
      name: String,
      fit: Long,
      format: VectorFormat,
      patienceMillis: Long)(step: Workers.Step[D, M, S])(
      lead: (Replicas[M, S], Any => Unit) => R)(told: Any => Unit, watch: () => Unit = () => ()): R = {
    val sc = data.sparkContext
    val members = data.getNumPartitions
    val idle = new IdleMembers(members)
    val meeting = Rendezvous.open(sc, name, members) {
      case note: IdleMembers.Note => idle.heard(note)
      case other => told(other)
    }
    val active = new ActiveTasks
    sc.addSparkListener(active)
    try {
      val result = new AtomicReference[Either[Exception, R]]()
      val tasks = new SpreadTasks(data).barrier().mapPartitions { elements =>
        val member = new GangMember[D, M, S](name, fit, members, format)
        Iterator.single(Cargo.of(member.run(elements, step, lead)))
      }
      val job = sc.submitJob(
        tasks,
        (it: Iterator[SerializableWritable[Cargo[Option[Either[Exception, R]]]]]) => it.next(),
        0 until members,
        (_: Int, outcome: SerializableWritable[Cargo[Option[Either[Exception, R]]]]) =>
          outcome.value.content.foreach(result.set),
        ())
      var nothingLeft = false
      try {
        awaitEnd(job, active, idle, patienceMillis, watch)
        job.value.foreach {
          // Only its message tells a failed barrier stage from another stage and from a cancelled job. The message of a
          // cancelled job contains the name of the user's job group, hence the test of its beginning.
          case Failure(e: SparkException) if e.getMessage.startsWith(Aborted) && e.getMessage.contains("barrier") =>
            throw new BrokenException(e)
          case outcome => outcome.get
        }
        nothingLeft = result.get.isRight
        result.get.fold(e => throw e, identity)
      } catch {
        case e: StalledException =>
          nothingLeft = true
          throw e
      } finally if (!nothingLeft) clear(sc, job, active, name)
    } finally {
      sc.removeSparkListener(active)
      meeting.close()
    }
  }

  /** Removes the messages that no task has received. */
  private def clear(sc: SparkContext, job: SimpleFutureAction[_], active: ActiveTasks, name: String): Unit = {
    job.cancel()
    // A task that is still running could send more.
    val latest = System.nanoTime() + CleanUpLimit.toNanos
    while (!sc.isStopped && job.jobIds.exists(active.of) && System.nanoTime() < latest) Thread.sleep(PollMillis / 5)
    OnExecutors.run(sc, CleanUpLimit, "dwell: clear messages")(() =>
      BlockExchange.local.removeAll(Mailbox.prefix(name)))
  }

  /**
   * Waits for the end of a job.
   *
   * @throws StalledException
   *   if none of its tasks has run for `patienceMillis`, for want of slots
   * @throws BrokenException
   *   if all of its tasks have waited for one another for `patienceMillis`
   */
  private def awaitEnd(
      job: SimpleFutureAction[_],
      active: ActiveTasks,
      idle: IdleMembers,
      patienceMillis: Long,
      watch: () => Unit): Unit = {
    var lastSeenRunning = System.nanoTime()
    while (!job.isCompleted) {
      try Await.ready(job, Duration(PollMillis, TimeUnit.MILLISECONDS))
      catch { case _: TimeoutException => }
      watch()
      if (!job.isCompleted && idle.nanos > patienceMillis * 1000000L) {
        throw new BrokenException(new SparkException(
          f"all tasks have waited for one another for ${patienceMillis * 1e-3}%.1f s: a message between them was lost"))
      }
      val now = System.nanoTime()
      if (job.isCompleted || job.jobIds.exists(active.of)) lastSeenRunning = now
      else if (now - lastSeenRunning > patienceMillis * 1000000L) {
        job.cancel()
        throw new StalledException(
          f"no task of the barrier stage has run for ${patienceMillis * 1e-3}%.1f s, since not all of them found a free slot; " +
            "lower numWorkers, or raise spark.dwell.gangPatience")
      }
    }
  }

  private val Aborted = "Job aborted"
  private val PollMillis = 100L
  private val CleanUpLimit = 5.seconds
}
