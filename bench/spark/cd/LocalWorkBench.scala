package dwell.bench.cd

import org.apache.spark.ml.Estimator
import org.apache.spark.sql.DataFrame

import dwell.bench.Bench
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/**
 * Seconds to a relative gap of 1e-4 with local work H from a grid, and with the H that a fit chooses from its own rounds.
 * All of them in turn, after one fit that warms up. Seconds are those of the rounds; those of the whole `fit`, with
 * reading and transposing, stand beside.
 */
object LocalWorkBench {

  private val Target = 1e-4
  private val Grid = Seq("0.25", "0.5", "1", "2", "4", "8", "16")
  private val Auto = "auto"
  private val MostRounds = 300

  private final case class Case(
      loss: String,
      estimator: () => Estimator[_],
      data: DataFrame,
      params: Seq[(String, Any)],
      workers: Int)

  private final case class Fit(localWork: String, report: FitReport) {
    val seconds: Double = report.rounds.map(_.seconds).sum
    def rounds: Int = report.rounds.last.round
  }

  def main(args: Array[String]): Unit = Bench.run("local work bench", args) { bench =>
    // One for the sum of the losses.
    val params = Seq("regParam" -> 1.0 / bench.wide.count(), "standardization" -> false)
    val primal = params :+ ("orientation" -> "primal")
    for (workers <- Seq(2, 1)) {
      Seq(
        Case("squared, ridge", () => new LinearRegression(), bench.wide, primal, workers),
        Case("logistic", () => new LogisticRegression(), bench.wideClasses, params, workers),
        Case("hinge", () => new LinearSVC(), bench.wideClasses, params, workers)).foreach(run(bench, _))
    }
  }

  private def run(bench: Bench, c: Case): Unit = {
    println(s"\n== ${c.loss}, ${c.workers} workers, ${Bench.shape(c.data)}")
    def fit(localWork: String) = {
      val more = Seq("numWorkers" -> c.workers, "localWork" -> localWork, "maxIter" -> MostRounds, "tol" -> Target)
      Fit(localWork, FitReport.of(Bench.fit(c.estimator(), c.data, c.params ++ more: _*)))
    }
    // Rounds of the hinge are whole epochs.
    val grid = if (c.loss == "hinge") Grid.filter(_.toDouble >= 1.0) else Grid
    fit(Auto)
    val fits = (1 to bench.repetitions).map { repetition =>
      // Each time from another place, so that no setting always comes after the same one.
      val order = grid :+ Auto
      val (first, second) = order.splitAt(repetition * 3 % order.size)
      (second ++ first).map(fit)
    }
    def of(localWork: String) = fits.map(_.find(_.localWork == localWork).get)
    def converged(localWork: String) = of(localWork).forall(_.report.converged)
    val best = grid.filter(converged).minBy(h => Bench.median(of(h).map(_.seconds)))
    (grid :+ Auto).foreach { h =>
      val these = of(h)
      val toBest = these.zip(of(best)).map { case (one, other) => one.seconds / other.seconds }
      val last = these.last.report.rounds.drop(2)
      val epochs = last.map(_.localWork).sum
      val workerSecondsAnEpoch = last.map(_.workerSeconds).sum / epochs
      val otherSeconds = last.map(r => r.seconds - r.workerSeconds).sum / last.size
      println(f"H $h%-5s ${these.last.rounds}%3d rounds${if (converged(h)) "" else " (NOT converged)"}, median " +
        f"${Bench.median(these.map(_.seconds))}%.2f s of ${these.map(f => f"${f.seconds}%.2f").mkString(" ")}, " +
        f"${Bench.median(toBest)}%.2f of the best; whole fit ${Bench.median(these.map(_.report.totalSeconds))}%.2f s; " +
        f"t1 $otherSeconds%.3f s, t2 $workerSecondsAnEpoch%.3f s")
      if (h == Auto) these.foreach(f => println(s"    H: ${f.report.rounds.drop(1).map(_.localWork).mkString(" ")}"))
      bench.add(
        "loss" -> c.loss,
        "rows" -> these.last.report.numRows,
        "features" -> these.last.report.numFeatures,
        "nonzeros" -> these.last.report.nonzeros,
        "orientation" -> these.last.report.orientation,
        "workers" -> these.last.report.numPartitions,
        "localWork" -> h,
        "converged" -> converged(h),
        "rounds" -> these.map(_.rounds),
        "seconds" -> these.map(_.seconds),
        "wholeFitSeconds" -> these.map(_.report.totalSeconds),
        "bestOfGrid" -> best,
        "ratiosToBest" -> toBest,
        "epochs" -> these.last.report.rounds.map(_.localWork),
        "secondsByRound" -> these.last.report.rounds.map(_.seconds),
        "workerSecondsByRound" -> these.last.report.rounds.map(_.workerSeconds),
        "gaps" -> these.last.report.rounds.map(_.relativeGap))
    }
  }
}
