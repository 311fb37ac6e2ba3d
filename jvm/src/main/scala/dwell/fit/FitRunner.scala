package dwell.fit

import scala.collection.mutable
import scala.concurrent.duration._
import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD

import dwell.comm.{Job, ModelStore, OnExecutors, Replicas, Workers}
import dwell.comm.gang.Gang
import dwell.comm.jobs.{DriverMode, ShuffleMode}
import dwell.jni.ResultHeader
import dwell.record.{FitFacts, RoundCompleted, RoundRecord}
import dwell.spark.{Sent, SessionWarnings, TaskFailure}

/**
 * Runs a [[FitPlan]] on Spark, in the mode that was asked for. If that mode cannot run, it takes one that can.
 *
 * @tparam D
 *   the data of a partition
 * @param workers
 *   the number of partitions
 * @param parts
 *   the data of each partition; a gang does not ask for them
 * @param forBarrier
 *   the same for a gang; what was lost may be computed by the call
 * @param step
 *   the worker's part of an exchange
 * @param freeStates
 *   frees the worker states of a fit in the JVM that calls it
 */
private[dwell] final class FitRunner[D: ClassTag, M: ClassTag, S: ClassTag, T](
    sc: SparkContext,
    workers: Int,
    parts: => RDD[D],
    forBarrier: () => RDD[D],
    plan: FitPlan[M, S, T],
    step: Workers.Step[D, M, S],
    freeStates: Long => Unit)
    extends Logging {
  import FitRunner._

  private val problem = plan.problem
  private val reported = new ReportedRounds

  /** Runs the fit. The caller frees what its last attempt leaves with the workers. */
  def run(): Outcome[T] = {
    val outcome = problem.aggregation match {
      case Some(mode: JobAggregation) => byJobs(attempt = 0, mode, "asked for")
      case None if plan.isBrief && hasRoomOnDriver => byJobs(attempt = 0, Aggregation.Driver, Brief)
      case Some(Aggregation.Gang) | None =>
        Gang.impossible(sc, workers) match {
          case None => inGang(attempt = 0)
          case Some(reason) => insteadOfGang(attempt = 0, reason)
        }
    }
    FitRunner.free(sc, (0 until outcome.attempt).map(plan.attemptId), freeStates)
    outcome
  }

  /** Frees everything that any attempt of the fit may have left with the workers. */
  def freeAll(): Unit = FitRunner.free(sc, (0 to MostGangs).map(plan.attemptId), freeStates)

  private def byJobs(attempt: Int, mode: JobAggregation, reason: String): Outcome[T] = {
    val exchange: Replicas[M, S] = mode match {
      case Aggregation.Driver => new DriverMode(parts, plan.id, plan.format)(step)
      case Aggregation.Shuffle => new ShuffleMode(parts, plan.id, plan.format)(step)
    }
    // Spark reads data again that are lost with an executor. Such a read may fail with a message for the user.
    try Outcome(TaskFailure.unwrapped(plan.lead(exchange, reported.attempt(attempt))(completed)), attempt, mode, reason)
    finally exchange.release()
  }

  private def insteadOfGang(attempt: Int, reason: String): Outcome[T] = {
    val mode = if (hasRoomOnDriver) Aggregation.Driver else Aggregation.Shuffle
    val line = s"${problem.uid} is trained in ${mode.name} mode, with the same result, but slower: $reason."
    // Barrier stages that fail are news each time.
    if (attempt == MostGangs) logWarning(line)
    else if (SessionWarnings.isNew(sc, reason)) logWarning(s"$line Later fits of this session do not repeat it.")
    else logInfo(line)
    byJobs(attempt, mode, reason)
  }

  private def hasRoomOnDriver: Boolean =
    plan.fitsDriver && workers * ResultHeader.length(plan.vectorLength).toLong <= problem.settings.driverBytes

  private def inGang(attempt: Int): Outcome[T] = {
    val sent = Sent.of(sc, (plan, reported.attempt(attempt)))
    val name = s"dwell-gang-${plan.attemptId(attempt)}"
    val line = new JobLine
    try {
      val trained = TaskFailure.unwrapped {
        Gang.run(forBarrier(), name, plan.id, plan.format, patienceMillis)(step)((workers: Replicas[M, S], tell) =>
          sent.value._1.lead(workers, sent.value._2)(tell))(
          told = { case record: RoundRecord =>
            reported.add(record)
            completed(record)
            line.latest = Some(record)
          },
          watch = () => line.show())
      }
      Outcome(trained, attempt, Aggregation.Gang, s"the cluster has slots for $workers tasks at once")
    } catch {
      case e: Gang.StalledException => insteadOfGang(attempt + 1, e.getMessage)
      case e: Gang.BrokenException => again(attempt + 1, e)
    } finally sent.destroy(sc)
  }

  /** Starts another gang from what is left with the workers. After `MostGangs` gangs it changes to another mode. */
  private def again(attempt: Int, e: Gang.BrokenException): Outcome[T] = {
    logWarning(s"${problem.uid}: the gang broke in attempt $attempt and begins again: ${e.getMessage}")
    if (attempt == MostGangs) insteadOfGang(attempt, s"$MostGangs barrier stages have failed")
    else {
      Gang.impossible(sc, workers, patienceMillis) match {
        case None => inGang(attempt)
        case Some(reason) => insteadOfGang(attempt, reason)
      }
    }
  }

  private def patienceMillis: Long = problem.settings.gangPatienceMillis

  /** Shows the rounds of a gang in Spark's list of jobs. In the other modes the rounds are jobs themselves. */
  private final class JobLine {
    @volatile var latest = Option.empty[RoundRecord]
    private var shown = System.nanoTime()

    /** Adds the latest round to the list, at most once per `ShowEvery`. */
    def show(): Unit = latest.filter(_ => System.nanoTime() - shown >= ShowEvery.toNanos).foreach { record =>
      Job.line(sc.emptyRDD[Unit], Timeline.describe(problem.uid, record.round, record.objective, record.gap))
      latest = None
      shown = System.nanoTime()
    }
  }

  /** The rounds that gangs have reported, for an attempt that continues from them. */
  private final class ReportedRounds {
    private val records = mutable.ArrayBuffer.empty[RoundRecord]
    private var began = 0L

    def add(record: RoundRecord): Unit = synchronized {
      if (records.isEmpty) began = System.nanoTime() - (record.elapsed * 1e9).toLong
      // A round that is run again: the records from there on belong to lost models.
      val again = records.count(_.round >= record.round)
      records.remove(records.length - again, again)
      records += record
    }

    def attempt(number: Int): Attempt = synchronized {
      Attempt(number, records.toSeq, if (records.isEmpty) 0.0 else (System.nanoTime() - began) * 1e-9)
    }
  }

  private def completed(record: RoundRecord): Unit = {
    import record._
    logDebug(
      f"${problem.uid}: round=$round objective=$objective%.10g gap=$gap%.3e relativeGap=$relativeGap%.3e " +
        f"seconds=$seconds%.3f worker=$workerSeconds%.3f overhead=$overheadSeconds%.3f leader=$driverSeconds%.3f " +
        f"epochs=$localWork%.2f losses=$stateLosses $note")
    DwellBridge.post(sc, RoundCompleted(problem.uid, record))
  }
}

/** Outcomes of fits, and the clean-up after them. */
private[dwell] object FitRunner {

  /**
   * The result of the rounds.
   *
   * @param attempt
   *   number of the attempt that completed them
   * @param aggregation
   *   its mode
   * @param reason
   *   why this mode was used
   */
  final case class Outcome[T](trained: T, attempt: Int, aggregation: Aggregation, reason: String) {

    /** The facts, with how the updates travelled. */
    def tell(facts: FitFacts): FitFacts =
      facts.copy(aggregation = aggregation.name, aggregationReason = reason, restarts = attempt)
  }

  /**
   * Frees the states and the models of fits, or of attempts, on all executors, and does not wait for them.
   *
   * @param freeStates
   *   frees the worker states of a fit in the JVM that calls it
   */
  def free(sc: SparkContext, fits: Seq[Long], freeStates: Long => Unit): Unit =
    if (fits.nonEmpty) {
      OnExecutors.run(sc, CleanUpLimit, "dwell: free worker state") { () =>
        fits.foreach(freeStates)
        fits.foreach(ModelStore.free)
      }
    }

  private val Brief = "one exchange at most is expected"

  private val CleanUpLimit = 10.seconds

  /** Spark's UI keeps a thousand jobs, and fast rounds would fill it. */
  private val ShowEvery = 1.second

  /** Spark's own limit of consecutive attempts of a stage. */
  private val MostGangs = 4
}
