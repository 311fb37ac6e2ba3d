package dwell.report

import java.nio.file.Paths
import java.util.{Collections, WeakHashMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.Model

import dwell.record.{FitFacts, FitPhases, FitRequest, HeldBytes, RoundRecord, SearchFacts}
import dwell.report.Markup.number

/**
 * How a model was trained. `FitReport.of(model)` finds the report of a model that was fitted in this session.
 *
 * A report is a [[LinearFitReport]], a [[TopicFitReport]], a [[NetworkFitReport]] or, where Spark's own code trained, a [[SparkFitReport]].
 * Each holds what its kind of fit has. All of them answer every method here, so that callers need not know the kind: the doc
 * of a method names the answer of a fit that has no such thing.
 *
 * A class and not a trait, because Scala gives only classes the static methods by which Java and py4j call
 * `FitReport.of`.
 */
sealed abstract class FitReport extends Product with Serializable {

  /** Uid of the estimator, which the model shares. */
  def uid: String

  /** All that the fit has found out about itself; the methods below say what each fact means. */
  def facts: FitFacts

  /** The estimator, its Params, Dwell's version and the date. */
  final def request: FitRequest = facts.request

  /**
   * The Param `algorithm` as it was used, such as `cocoa`; `ma-lda` for topics; `none` where all labels are the same; `spark` where Spark's
   * own code trained.
   */
  final def algorithm: String = facts.algorithm

  /** `native`, or `spark` where Spark's own code trained. */
  def solver: String

  /** Why Spark's own code trained, where it did. */
  def reason: Option[String]

  /** `primal`: coordinates were features; `dual`: they were rows; empty for algorithms without coordinates and where Spark's own code trained. */
  final def orientation: String = facts.orientation

  /** Why this algorithm or orientation, with the forecast if it was wrong by a factor of three; empty where the user asks for it. */
  final def orientationReason: String = facts.orientationReason

  /** How updates travelled: `driver`, `shuffle` or `gang`; empty where Spark's own code trained. */
  final def aggregation: String = facts.aggregation

  /** Why they travelled in this way; empty where Spark's own code trained. */
  final def aggregationReason: String = facts.aggregationReason

  /** Times that a gang began again, from what the remaining workers had. */
  final def restarts: Int = facts.restarts

  /**
   * The start and the rounds after it; none where Spark's own code trained. After a restart they are all the rounds that
   * led to the model, with CoCoA only the rounds of the last attempt.
   */
  final def rounds: Seq[RoundRecord] = facts.rounds

  /**
   * Of a linear model F of its coefficients, in units of the label. Of a network its mean loss. Of topics minus the variational bound on the
   * logarithm of the likelihood, by token, of a sample of the documents; the topics' own part of the bound is not in it.
   * NaN where Spark's own code trained.
   */
  final def objective: Double = facts.objective

  /** Best lower bound of F over all models, the value of the dual problem; NaN where there is none. */
  final def dual: Double = facts.dual

  /** `objective - dual`: F - F* is at most this. NaN where there is no bound. */
  final def gap: Double = facts.gap

  /** Bound of the relative suboptimality (F - F*)/F of the returned model; NaN where there is none. */
  final def relativeGap: Double = RoundRecord.relativeGap(gap, objective)

  /** The Param `tol`, which ends a fit; 0 for topics, which have none. */
  final def tolerance: Double = facts.tolerance

  /** Whether the stop rule was met within `maxIter` rounds; of topics always. False where Spark's own code trained. */
  final def converged: Boolean = facts.converged

  /**
   * Of `LinearSVC` by `newton`: the share of the rows' weight that the model predicts as one class, if it is 99% or more and the
   * other class has more than 1% of the weight; NaN otherwise.
   */
  final def oneClass: Double = facts.oneClass

  /** Coefficients of a linear model, intercepts left out; weights of a network; 0 for topics. */
  final def coefficients: Long = facts.coefficients

  /** How many of the coefficients are not 0. */
  final def nonzeroCoefficients: Long = facts.nonzeroCoefficients

  /**
   * The least share of the deviance that the model explains: 1 - F / F0, where F0 is the objective of the best model without
   * coefficients. F has the penalty, too. NaN for the hinge and Huber's loss, for topics, for labels that are all the
   * same, for several classes where nobody has counted them, and where Spark's own code trained.
   */
  final def explained: Double = facts.explained

  /** Relative difference of the carried residual's objective and the recomputed one: rounding, if all is well. */
  final def drift: Double = facts.drift

  /** Rows, or documents with words; 0 where Spark's own code trained. */
  final def numRows: Long = facts.numRows

  /** Features, or words of the vocabulary. */
  final def numFeatures: Int = facts.numFeatures

  /** Nonzeros of all rows; 0 where Spark's own code trained. */
  final def nonzeros: Long = facts.nonzeros

  /**
   * Values that each partition stores: its nonzeros, or its zeros too where that takes less memory; none where Spark's own
   * code trained.
   */
  final def nonzerosPerPartition: Seq[Long] = facts.nonzerosPerPartition

  /** How the data came to their partitions, and why; empty where Spark's own code trained. */
  final def placement: String = facts.placement

  /** The bytes of the training data; none where Spark's own code trained. */
  final def held: HeldBytes = facts.held

  /** The seconds of the fit by phase. */
  final def phases: FitPhases = facts.phases

  /** Seconds of reading the data and bringing it into the form of the solvers. */
  final def flattenSeconds: Double = phases.reading + phases.setUp

  /** Seconds of the whole fit. */
  final def totalSeconds: Double = phases.total

  /** What was tried, where a search that reads the rows once has chosen the model. */
  final def search: Option[SearchFacts] = facts.search

  final def numPartitions: Int = nonzerosPerPartition.size

  /** Most memory that the workers kept between rounds, bytes. */
  final def stateBytes: Long = facts.stateBytes

  /** Times that a partition had lost its state when a round asked for it. */
  final def stateLosses: Int = facts.stateLosses

  /** `flattenSeconds` in epochs of the slowest worker, certificates included, as the rounds took them; None without rounds. */
  final def flattenEpochs: Option[Double] =
    Some(rounds.map(_.workerSeconds).sum).filter(_ > 0.0).map(flattenSeconds * rounds.map(_.localWork).sum / _)

  /** Largest part's stored values over the mean. */
  final def imbalance: Double = {
    val stored = nonzerosPerPartition.sum
    if (stored == 0L) 1.0 else nonzerosPerPartition.max * numPartitions.toDouble / stored
  }

  /** The rounds, for callers in Java. */
  final def roundsAsJava: java.util.List[RoundRecord] = rounds.asJava

  /** Plain text: the phases, a summary, what a search has tried and, where there are rounds, a line for each, or for 10,000 of them. */
  final def toText: String =
    (lines ++ search.toSeq.flatMap(SearchSection.lines) ++ (if (rounds.isEmpty) Nil else ListedRounds.table(rounds)))
      .mkString("\n")

  /** A page with a table of what a reader wants to know first, and charts. It needs no network. */
  final def toHtml: String =
    FitPage(uid, digest :+ ("seconds" -> phases.toLine), phases, rounds, numPartitions, search)

  /** Writes the page; an existing file is replaced. */
  final def writeHtml(path: String): Unit = HtmlPage.write(Paths.get(path), toHtml)

  /** The report as JSON, for other programs; docs/fit-report.md describes its schema. */
  final def toJson: String = JsonReport(uid, solver, reason, facts)

  /** The report of a model that a search has chosen. */
  private[dwell] final def chosenBy(search: SearchFacts): FitReport = {
    val more = facts.copy(search = Some(search))
    this match {
      case report: LinearFitReport => report.copy(facts = more)
      case report: TopicFitReport => report.copy(facts = more)
      case report: NetworkFitReport => report.copy(facts = more)
      case report: SparkFitReport => report.copy(facts = more)
    }
  }

  private def lines: Seq[String] = phases.toLine +: summary

  /** Lines about the fit as a whole. */
  private[report] def summary: Seq[String]

  /** What was asked for, in a line; empty where nobody knows. */
  private[report] final def asked: String = request.toLine

  /** What came out, in a line; empty for topics. */
  private[report] final def outcome: String =
    if (coefficients == 0L) ""
    else {
      val count = f"$nonzeroCoefficients%,d of $coefficients%,d coefficients are not 0"
      if (explained > 0.0) s"$count; at least ${number("%.1f", 100.0 * explained)}% of the deviance is explained"
      else count
    }

  /** Names and texts of what a reader wants to know first: what trained and why, how good the model is, what it was trained on. */
  private[report] def digest: Seq[(String, String)]
}

/** A fit by Dwell, in rounds. */
private[report] sealed abstract class DwellFitReport extends FitReport {
  final override def solver: String = "native"
  final override def reason: Option[String] = None

  private[report] final override def summary: Seq[String] =
    (Seq(s"$uid: $algorithm, native solver, $partitions", asked, outcome) ++
      choices ++
      (if (aggregation.nonEmpty) Some(s"aggregation by $aggregation: $aggregationReason") else None) ++
      Seq(
        f"$numRows%d rows x $numFeatures%d features, $nonzeros%d nonzeros, imbalance $imbalance%.3f",
        placement,
        s"training data ${held.toLine}",
        f"objective $objective%.10g, $proof",
        f"reading and set-up $flattenSeconds%.2f s$inEpochs, " +
          s"worker state $stateBytes bytes, $stateLosses state losses, $restarts restarts")).filter(_.nonEmpty)

  private[report] final override def digest: Seq[(String, String)] =
    Seq(
      "asked for" -> asked,
      "trained by" -> s"Dwell: $algorithm${because(orientationReason)}",
      "went over" -> facts.handover,
      "predictions" -> ofOneClass,
      "came out" -> outcome,
      "certificate" -> certificate,
      "rows x features" -> s"$numRows x $numFeatures, $nonzeros nonzeros in $partitions",
      "memory" -> held.toLine,
      "updates" -> (if (aggregation.isEmpty) "" else s"by $aggregation${because(aggregationReason)}"))
      .filter(_._2.nonEmpty)

  private def partitions: String = if (numPartitions == 1) "1 partition" else s"$numPartitions partitions"

  private def because(reason: String): String = if (reason.isEmpty) "" else s" ($reason)"

  /** What the model predicts for nearly every row, and what helps; empty if there is no such thing. */
  private[dwell] def ofOneClass: String

  /** How near to the optimum the model is known to be. */
  private[report] def certificate: String

  private def inEpochs: String = flattenEpochs.fold("")(epochs => f" ($epochs%.0f epochs)")

  /** Lines on what was chosen for this family alone. */
  private[report] def choices: Seq[String]

  /** What is known of the distance to the optimum. */
  private[report] def proof: String
}

/**
 * A fit of a linear model by Dwell, and the certificate of its optimality.
 *
 * There is no lower bound without a penalty in model averaging and L-BFGS.
 */
final case class LinearFitReport(uid: String, facts: FitFacts) extends DwellFitReport {

  /** Why L-BFGS went on where coordinate descent had ended; empty if it did not. */
  def handover: String = facts.handover

  private[report] override def choices: Seq[String] =
    s"$way: $orientationReason" +: Seq(handover, ofOneClass).filter(_.nonEmpty)

  private[dwell] override def ofOneClass: String =
    if (oneClass.isNaN) ""
    else
      f"the model predicts one class for ${100.0 * oneClass}%.2f%% of the training rows, by weight: the optimum of the " +
        "hinge can be so. Weights for the rarer class (weightCol), a larger regParam or LogisticRegression help"

  /** Of the algorithm that was chosen: the one that went on had no choice. */
  private def way: String = {
    val chosen = if (handover.isEmpty) algorithm else algorithm.takeWhile(_ != '+')
    if (orientation.isEmpty) chosen else s"$orientation orientation"
  }

  private[report] override def certificate: String = {
    val stop = if (converged) "" else "; NOT converged: maxIter rounds were done before tol was met"
    if (gap.isNaN) s"none for this penalty and method$stop"
    else {
      val (percent, tol) = (number("%.2g", 100.0 * relativeGap), number("%.0e", tolerance))
      s"no model has an objective lower than ${number("%.6g", objective)} by more than $percent% (tol $tol)$stop"
    }
  }

  private[report] override def proof: String =
    (if (gap.isNaN) f"no lower bound (tolerance $tolerance%.1e), "
     else f"dual $dual%.10g, gap $gap%.3e (relative $relativeGap%.3e, tolerance $tolerance%.1e), ") +
      (if (converged) "converged" else "NOT converged")
}

/** A fit of topics by Dwell. How much better topics could be is not known, and the number of iterations alone ends a fit. */
final case class TopicFitReport(uid: String, facts: FitFacts) extends DwellFitReport {
  private[report] override def choices: Seq[String] = Seq.empty
  private[report] override def proof: String = "no lower bound"
  private[dwell] override def ofOneClass: String = ""
  private[report] override def certificate: String =
    s"none: topics have many local optima; minus the bound on the likelihood by token is ${number("%.6g", objective)}"
}

/** A fit of a network by Dwell. How much better another network could be is not known: its objective has many local optima. */
final case class NetworkFitReport(uid: String, facts: FitFacts) extends DwellFitReport {
  private[report] override def choices: Seq[String] = Seq.empty
  private[report] override def proof: String =
    f"no lower bound (tolerance $tolerance%.1e), ${if (converged) "converged" else "NOT converged"}"
  private[dwell] override def ofOneClass: String = ""
  private[report] override def certificate: String = {
    val stop = if (converged) "" else "; NOT converged: maxIter rounds were done before tol was met"
    s"none: a network has many local optima; the mean loss is ${number("%.6g", objective)}$stop"
  }
}

/**
 * A fit that Dwell left to Spark's own code, which tells nothing of its rounds.
 *
 * @param why
 *   the reason
 */
final case class SparkFitReport(uid: String, why: String, facts: FitFacts) extends FitReport {
  override def solver: String = algorithm
  override def reason: Option[String] = Some(why)

  private[report] override def summary: Seq[String] =
    Seq(s"$uid: trained by Spark's own code: $why", asked, outcome).filter(_.nonEmpty)

  private[report] override def digest: Seq[(String, String)] =
    Seq(
      "asked for" -> asked,
      "trained by" -> s"Spark's own code: $why",
      "came out" -> outcome,
      "features" -> numFeatures.toString).filter(_._2.nonEmpty)
}

object FitReport {

  /**
   * Reports by what a model and its copies share. It is a process-wide singleton because a stock Spark model has no place to keep a
   * report. Its keys are weak, so that a report does not outlive the models. They have identity semantics, so equal means same.
   */
  private val reports = Collections.synchronizedMap(new WeakHashMap[AnyRef, FitReport]())

  /**
   * The report of a model that Dwell fitted in this session, or of a copy.
   *
   * @throws NoSuchElementException
   *   for any other model: one that was loaded, or fitted by another estimator
   */
  def of(model: Model[_]): FitReport =
    find(model).getOrElse(
      throw new NoSuchElementException(
        s"no fit report for ${model.uid}: only models that a Dwell estimator returned in this session have one, and their copies, " +
          "not loaded ones"))

  /** The same, None for any other model. */
  def find(model: Model[_]): Option[FitReport] = Option(reports.get(ModelNumbers.shared(model)))

  /** Several fits, by name, on the same axes. */
  def compare(reports: (String, FitReport)*): Comparison = new Comparison(reports)

  final class Comparison private[FitReport] (reports: Seq[(String, FitReport)]) {

    /** Writes the comparison as a page with charts, which needs no network; an existing file is replaced. */
    def writeHtml(path: String): Unit = {
      val (withRounds, without) = reports.partition(_._2.rounds.nonEmpty)
      ComparisonPage.write(
        Paths.get(path),
        withRounds.map { case (name, r) => compared(name, r) },
        without.map { case (name, r) => UnchartedFit(name, r.reason.getOrElse("no rounds"), r.totalSeconds) })
    }

    private def compared(name: String, r: FitReport): ComparedFit = {
      val by = Seq(r.solver, r.orientation, r.aggregation).filter(_.nonEmpty).mkString(", ")
      ComparedFit(name, by, r.rounds, r.relativeGap, r.phases)
    }
  }

  private[dwell] def attach[M <: Model[_]](model: M, report: FitReport): M = {
    reports.put(ModelNumbers.shared(model), report)
    model
  }
}
