package dwell.bench.anatomy

import scala.collection.mutable

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.ml.classification.{LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.clustering.{LDA => SparkLDA}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}

import dwell.bench.{Bench, NamedArguments}
import dwell.ml.classification.LogisticRegression
import dwell.ml.clustering.LDA
import dwell.ml.regression.LinearRegression
import dwell.record.FitPhases
import dwell.report.FitReport

/**
 * Whole fits by phase ([[FitPhases]]), with one import changed and everything else default, beside Spark's own scan of the same
 * columns ([[SparkScan]]): in turn, in warm JVMs. A scan and the workers' seconds are what a fit cannot do without.
 *
 * Arguments after those of [[Bench]]: those of [[DataTable]], and `beside=spark` for Spark's own fits.
 */
object AnatomyBench {

  /** @param label None for topics */
  private final case class Case(
      name: String,
      label: Option[String],
      ours: () => Estimator[_],
      theirs: () => Estimator[_],
      params: Seq[(String, Any)]) {
    def columns: Seq[String] = "features" +: label.toSeq
  }

  private val Linear = Seq(
    Case(
      "LogisticRegression",
      Some("class"),
      () => new LogisticRegression(),
      () => new SparkLogisticRegression(),
      Seq("labelCol" -> "class", "regParam" -> 0.01)),
    Case(
      "LinearRegression, elastic net",
      Some("label"),
      () => new LinearRegression(),
      () => new SparkLinearRegression(),
      Seq("regParam" -> 0.05, "elasticNetParam" -> 0.5)))

  private val Topics = Seq(Case("LDA", None, () => new LDA(), () => new SparkLDA(), Seq("k" -> 20, "seed" -> 1L)))

  def main(args: Array[String]): Unit = {
    val (own, others) = args.splitAt(Bench.Arguments)
    val asked = new NamedArguments(others.toSeq)
    val beside = asked.list("beside").exists(_.contains("spark"))
    Bench.run("anatomy bench", own) { bench =>
      DataTable.foreach(bench, asked) { stored =>
        measure(bench, stored, beside)
      }
    }
  }

  /** @param beside whether Spark's own estimators fit, too */
  private[bench] def measure(bench: Bench, stored: StoredFrame, beside: Boolean): Unit =
    (if (stored.data.documents) Topics else Linear).foreach(measure(bench, stored, _, beside))

  private def measure(bench: Bench, stored: StoredFrame, c: Case, beside: Boolean): Unit = {
    def fit(estimator: Estimator[_]): Model[_] = Bench.fit(estimator, stored.frame, c.params: _*)
    def ours(): FitReport = {
      val report = FitReport.of(fit(c.ours()))
      require(report.solver == "native", report.toText)
      report
    }
    SparkScan.seconds(stored.frame, c.columns)
    ours()
    if (beside) fit(c.theirs())
    val scans = mutable.ArrayBuffer.empty[Double]
    val reports = mutable.ArrayBuffer.empty[FitReport]
    val theirs = mutable.ArrayBuffer.empty[Double]
    (1 to bench.repetitions).foreach { _ =>
      scans += SparkScan.seconds(stored.frame, c.columns)
      reports += ours()
      if (beside) theirs += Bench.timed(fit(c.theirs())).seconds
    }
    report(bench, stored, c, scans.toSeq, reports.toSeq, theirs.toSeq)
  }

  private def report(
      bench: Bench,
      stored: StoredFrame,
      c: Case,
      scans: Seq[Double],
      reports: Seq[FitReport],
      theirs: Seq[Double]): Unit = {
    val phases = reports.map(_.phases)
    val last = reports.last
    val least = scans.zip(phases).map { case (scan, p) => scan + p.workers }
    def median(values: Seq[Double]): String = f"${Bench.median(values)}%.2f"
    println(
      s"${c.name}: total ${median(phases.map(_.total))} s, scan ${median(scans)}, workers ${median(phases.map(_.workers))}, leader " +
        s"${median(phases.map(_.leader))}; scan and workers ${median(least)}, the fit " +
        s"${median(phases.zip(least).map { case (p, l) => p.total / l })} times that; leader " +
        s"${median(phases.map(p => 100.0 * p.leader / p.rounds))}% of the rounds" +
        (if (theirs.isEmpty) "" else s"; Spark's own fit ${median(theirs)} s"))
    println(s"  ${last.phases.toLine}")
    bench.add(
      stored.about ++ Seq(
        "estimator" -> c.name,
        "algorithm" -> last.algorithm,
        "orientation" -> last.orientation,
        "workerCount" -> last.numPartitions,
        "rounds" -> last.rounds.last.round,
        "relativeGap" -> last.relativeGap,
        "converged" -> last.converged,
        "scanSeconds" -> scans,
        "sparkSeconds" -> theirs) ++ parts.map { case (name, seconds) => name -> phases.map(seconds) }: _*)
  }

  private val parts = Seq[(String, FitPhases => Double)](
    "total" -> (_.total),
    "reading" -> (_.reading),
    "setUp" -> (_.setUp),
    "workers" -> (_.workers),
    "leader" -> (_.leader),
    "transport" -> (_.transport),
    "model" -> (_.model),
    "rest" -> (_.rest))
}
