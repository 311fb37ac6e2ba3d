package dwell.report

import java.nio.file.Paths
import java.util.{Collections, WeakHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.Model
import org.apache.spark.scheduler.SparkListenerEvent

/**
 * One round of a fit. All objectives are values of F of docs/how-it-works.md, in units of the label.
 *
 * @param round
 *   0 is the start, before any local work
 * @param objective
 *   F after the round; with model averaging as the workers met it on their way
 * @param gap
 *   F minus the best lower bound that any certificate has given so far: an upper bound of F - F*. NaN in the rounds of an
 *   algorithm that gives one at its end only
 * @param seconds
 *   wall-clock time of the round, which is workerSeconds + overheadSeconds + driverSeconds
 * @param workerSeconds
 *   time inside the local solver, of the slowest worker
 * @param overheadSeconds
 *   scheduling, serialisation and transport: what neither the slowest worker nor the driver accounts for
 * @param driverSeconds
 *   adding the updates and the step of the leader
 * @param localWork
 *   epochs over the local coordinates in this round
 * @param stateBytes
 *   memory that the workers keep between rounds
 * @param stateLosses
 *   partitions that had lost their state when this round was asked for
 * @param elapsed
 *   seconds from the start of the rounds to the end of this one
 * @param workers
 *   when each worker was at work; none in round 0
 * @param note
 *   what happened in it beside that, such as a step size that was halved; empty if nothing did
 */
final case class RoundRecord(
    round: Int,
    objective: Double,
    gap: Double,
    seconds: Double,
    workerSeconds: Double,
    overheadSeconds: Double,
    driverSeconds: Double,
    localWork: Double,
    stateBytes: Long,
    stateLosses: Int,
    elapsed: Double,
    workers: Seq[WorkerTime],
    note: String = "") {

  /** Bound of the relative suboptimality (F - F*)/F. */
  def relativeGap: Double = if (gap == 0.0) 0.0 else gap / objective

  def toLine: String =
    f"$round%5d $objective%16.10g $gap%10.3e $relativeGap%10.3e $seconds%8.3f $workerSeconds%8.3f " +
      f"$overheadSeconds%8.3f $driverSeconds%8.3f $localWork%7.2f $stateLosses%4d" + (if (note.isEmpty) ""
                                                                                      else s"  $note")
}

/**
 * When a worker was in the local solver.
 *
 * @param start
 *   seconds since the start of the rounds, by the clock of the worker's machine
 */
final case class WorkerTime(start: Double, seconds: Double)

/** Posted to the listener bus of the SparkContext after each round of a fit. */
final case class RoundCompleted(uid: String, record: RoundRecord) extends SparkListenerEvent

/**
 * How a model was trained, and the certificate of its optimality. `FitReport.of(model)` finds it for a model that was
 * fitted in this session.
 *
 * @param orientation
 *   `primal`: coordinates were features; `dual`: they were rows; empty for topics
 * @param orientationReason
 *   why this orientation
 * @param aggregation
 *   how updates travelled: `driver`, `shuffle` or `gang`
 * @param aggregationReason
 *   why in this way
 * @param restarts
 *   times that a gang began again, from what was left with the workers. `rounds` are all that led to the model; with CoCoA
 *   and mini-batches those of the last attempt
 * @param solver
 *   `native`, `jvm`, `native+jvm` where executors differed, or `spark` where Spark's own code trained
 * @param reason
 *   why Spark's own code trained, where it did
 * @param objective
 *   F of the returned coefficients, computed from them and not carried along; of topics see [[dwell.ml.clustering.LDA]]
 * @param dual
 *   best lower bound of F over all models: the value of the dual problem. NaN where there is none: without an L2 penalty in
 *   model averaging and L-BFGS, and where Spark's own code trained
 * @param gap
 *   objective - dual: F - F* is at most this. NaN where there is no bound
 * @param converged
 *   whether the stop rule was met within maxIter rounds
 * @param drift
 *   relative difference of the carried residual's objective and the recomputed one: rounding, if all is well
 */
final case class FitReport(
    uid: String,
    algorithm: String,
    orientation: String,
    orientationReason: String,
    aggregation: String,
    aggregationReason: String,
    restarts: Int,
    solver: String,
    reason: Option[String],
    rounds: Seq[RoundRecord],
    objective: Double,
    dual: Double,
    gap: Double,
    tolerance: Double,
    converged: Boolean,
    drift: Double,
    numRows: Long,
    numFeatures: Int,
    nonzeros: Long,
    nonzerosPerPartition: Seq[Long],
    flattenSeconds: Double,
    totalSeconds: Double) {

  def numPartitions: Int = nonzerosPerPartition.size

  /** Bound of the relative suboptimality (F - F*)/F of the returned model. */
  def relativeGap: Double = if (gap == 0.0) 0.0 else gap / objective

  /** Most memory that the workers kept between rounds, bytes. */
  def stateBytes: Long = rounds.map(_.stateBytes).maxOption.getOrElse(0L)

  def stateLosses: Int = rounds.map(_.stateLosses).sum

  /** `flattenSeconds` in epochs of the slowest worker, certificates included, as the rounds took them; None without rounds. */
  def flattenEpochs: Option[Double] =
    Some(rounds.map(_.workerSeconds).sum).filter(_ > 0.0).map(flattenSeconds * rounds.map(_.localWork).sum / _)

  /** Largest part's nonzeros over the mean. */
  def imbalance: Double =
    if (nonzeros == 0L) 1.0 else nonzerosPerPartition.max * numPartitions.toDouble / nonzeros

  /** The rounds, for callers in Java. */
  def roundsAsJava: java.util.List[RoundRecord] = rounds.asJava

  /** Writes the report as a page with charts, which needs no network; an existing file is replaced. */
  def writeHtml(path: String): Unit = HtmlReport.write(this, Paths.get(path))

  /** Plain text: a summary and a line a round. */
  def toText: String = reason match {
    case Some(why) => f"$uid: trained by Spark's own code in $totalSeconds%.2f s: $why"
    case None =>
      val head = Seq(
        s"$uid: $algorithm, $solver solver, $numPartitions partitions",
        s"aggregation by $aggregation: $aggregationReason",
        f"$numRows%d rows x $numFeatures%d features, $nonzeros%d nonzeros, imbalance $imbalance%.3f",
        f"objective $objective%.10g, " +
          (if (gap.isNaN) f"no lower bound (tolerance $tolerance%.1e), "
           else f"dual $dual%.10g, gap $gap%.3e (relative $relativeGap%.3e, tolerance $tolerance%.1e), ") +
          (if (converged) "converged" else "NOT converged"),
        f"flatten $flattenSeconds%.2f s${flattenEpochs.fold("")(e => f" ($e%.0f epochs)")}, total $totalSeconds%.2f s, " +
          s"worker state $stateBytes bytes, $stateLosses state losses, $restarts restarts",
        RoundRecord.header)
      // Topics have none.
      val oriented = if (orientation.isEmpty) None else Some(s"$orientation orientation: $orientationReason")
      (head.take(1) ++ oriented ++ head.drop(1) ++ rounds.map(_.toLine)).mkString("\n")
  }
}

object RoundRecord {
  val header: String =
    f"${"round"}%5s ${"objective"}%16s ${"gap"}%10s ${"rel. gap"}%10s ${"seconds"}%8s ${"worker"}%8s " +
      f"${"overhead"}%8s ${"driver"}%8s ${"epochs"}%7s ${"lost"}%4s"
}

object FitReport {

  /**
   * Reports by model. A process-wide singleton: a stock Spark model has no place to keep a report, and the report must
   * not outlive the model. Weak keys bound it. Spark's models have identity semantics, so equal means same.
   */
  private val reports = Collections.synchronizedMap(new WeakHashMap[Model[_], FitReport]())

  /**
   * The report of a model that was fitted by Dwell in this session.
   *
   * @throws NoSuchElementException
   *   for any other model: one that was loaded, copied, or fitted by another estimator
   */
  def of(model: Model[_]): FitReport =
    find(model).getOrElse(
      throw new NoSuchElementException(
        s"no fit report for ${model.uid}: only models that a Dwell estimator returned in this session have one, not " +
          "loaded or copied ones"))

  def find(model: Model[_]): Option[FitReport] = Option(reports.get(model))

  /** Several fits, by name, on the same axes. */
  def compare(reports: (String, FitReport)*): Comparison = new Comparison(reports)

  final class Comparison private[FitReport] (reports: Seq[(String, FitReport)]) {

    /** Writes the comparison as a page with charts, which needs no network; an existing file is replaced. */
    def writeHtml(path: String): Unit = HtmlReport.compare(reports, Paths.get(path))
  }

  /** The report of a fit that was left to Spark's own code. */
  private[dwell] def bySpark(
      uid: String,
      reason: String,
      tolerance: Double,
      numFeatures: Int,
      totalSeconds: Double): FitReport =
    FitReport(
      uid = uid,
      algorithm = "spark",
      orientation = "",
      orientationReason = "",
      aggregation = "",
      aggregationReason = "",
      restarts = 0,
      solver = "spark",
      reason = Some(reason),
      rounds = Seq.empty,
      objective = Double.NaN,
      dual = Double.NaN,
      gap = Double.NaN,
      tolerance = tolerance,
      // Spark does not say.
      converged = false,
      drift = 0.0,
      numRows = 0L,
      numFeatures = numFeatures,
      nonzeros = 0L,
      nonzerosPerPartition = Seq.empty,
      flattenSeconds = 0.0,
      totalSeconds = totalSeconds)

  private[dwell] def attach[M <: Model[_]](model: M, report: FitReport): M = {
    reports.put(model, report)
    model
  }
}
