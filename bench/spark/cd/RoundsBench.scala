package dwell.bench.cd

import org.apache.spark.ml.{Estimator, Model}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, stddev_samp}

import dwell.bench.{Bench, BenchData}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.record.RoundRecord
import dwell.report.FitReport

/**
 * Rounds to a relative suboptimality and to a relative gap of 1e-3 and of 1e-4, with 8 workers and one epoch a round, by
 * searched steps. No time is measured.
 *
 * The suboptimality is against the lower bound of a long fit by one worker. Rounds to a gap are those after which the
 * report knows of it. In the dual orientation the primal objective of a round is known one or two rounds later; rounds to a
 * suboptimality are therefore found by fits of so many rounds, whose last model is evaluated.
 */
object RoundsBench {

  private val Targets = Seq(1e-3, 1e-4)
  private val Workers = 8
  private val MostRounds = 60
  private val ProofTolerance = 1e-7
  private val Primal = Seq("primal")
  private val Dual = Seq("dual")
  private val Both = Primal ++ Dual
  private val WithoutIntercept = "fitIntercept" -> false

  private final case class Case(
      name: String,
      data: DataFrame,
      loss: String,
      params: Seq[(String, Any)],
      orientations: Seq[String]) {
    def estimator: Estimator[_] = loss match {
      case "logistic" => new LogisticRegression()
      case "hinge" => new LinearSVC()
      case _ => new LinearRegression()
    }
    def fit(more: (String, Any)*): Model[_] = Bench.fit(estimator, data, params ++ more: _*)
  }

  def main(args: Array[String]): Unit = Bench.run("rounds bench", args) { bench =>
    cases("wide, shaped like news20", Some(bench.wide), Some(bench.wideClasses)).foreach(compare(bench, _))
    cases("packages", bench.packages, None).foreach(compare(bench, _))
    cases("libraries", None, bench.libraries).foreach(compare(bench, _))
  }

  private def compare(bench: Bench, c: Case): Unit = {
    val model = c.fit("numWorkers" -> 1, "maxIter" -> 500, "tol" -> ProofTolerance)
    val proof = FitReport.of(model)
    val nonzeros = Bench.coefficients(model).numNonzeros
    require(proof.solver == "native", proof.toText)
    println(
      f"\n== ${c.loss}, ${c.name} (${Bench.shape(c.data)}), ${c.params.map(p => s"${p._1} ${p._2}").mkString(", ")}, " +
        f"optimum within ${proof.relativeGap}%.1e, $nonzeros%d coefficients that are not 0")
    c.orientations.foreach(run(bench, c, _, proof, nonzeros))
  }

  /**
   * The generated data and the libraries: a penalty of 1 for the sum of the losses, and a tenth of the least L1 penalty that
   * leaves no coefficient. The packages, which are standardised: as in the other benchmark.
   */
  private def cases(name: String, regression: Option[DataFrame], classes: Option[DataFrame]): Seq[Case] = {
    val plain = "standardization" -> false
    regression.toSeq.flatMap { data =>
      val labels = data.agg(stddev_samp("label"), count("label")).head()
      // Spark divides the L2 penalty by the label's deviation.
      val (ridge, l1, scaled) =
        if (name == "packages") (1.0, 0.01, Seq.empty)
        else (labels.getDouble(0) / labels.getLong(1), BenchData.largestL1(data) / 10.0, Seq(plain))
      def params(regParam: Double, elasticNet: Double) =
        Seq("regParam" -> regParam, "elasticNetParam" -> elasticNet) ++ scaled
      Seq(
        Case(name, data, "squared, ridge", params(ridge, 0.0), Primal),
        Case(name, data, "squared, ridge", params(ridge, 0.0) :+ WithoutIntercept, Primal),
        Case(name, data, "squared, elastic net", params(2.0 * l1, 0.5), Primal),
        Case(name, data, "squared, lasso", params(l1, 1.0), Primal))
    } ++ classes.toSeq.flatMap { data =>
      val params = Seq("regParam" -> 1.0 / data.count(), plain)
      Seq(
        Case(name, data, "logistic", params, Both),
        Case(name, data, "logistic", params :+ WithoutIntercept, Both),
        Case(name, data, "hinge", params, Dual),
        Case(name, data, "hinge", params :+ WithoutIntercept, Dual))
    }
  }

  private def run(bench: Bench, c: Case, orientation: String, proof: FitReport, nonzeros: Int): Unit = {
    def fit(maxIter: Int, tol: Double) = FitReport.of(
      c.fit(
        "orientation" -> orientation,
        "numWorkers" -> Workers,
        "localWork" -> "1",
        "maxIter" -> maxIter,
        "tol" -> tol))
    def suboptimality(objective: Double) = objective / proof.dual - 1.0
    val report = fit(MostRounds, Targets.min)
    def seen(holds: RoundRecord => Boolean) = report.rounds.find(holds).map(_.round)
    val toSuboptimality = Targets.map { target =>
      val latest = seen(r => suboptimality(r.objective) <= target).orElse {
        Option.when(suboptimality(report.objective) <= target)(report.rounds.last.round)
      }
      if (orientation == "primal") latest
      else
        latest.map { from =>
          Iterator.iterate(from)(_ - 1).find(k => k <= 1 || suboptimality(fit(k - 1, 0.0).objective) > target).get
        }
    }
    val toGap = Targets.map(target => seen(_.relativeGap <= target))
    println(
      f"${orientation}%-7s rounds to a suboptimality of ${Targets.mkString(", ")}: ${text(toSuboptimality)}, to such a " +
        f"gap: ${text(toGap)}; after ${report.rounds.last.round} rounds a suboptimality of " +
        f"${suboptimality(report.objective)}%.1e, a gap of ${report.rounds.last.relativeGap}%.1e")
    bench.add(
      "data" -> c.name,
      "loss" -> c.loss,
      "rows" -> report.numRows,
      "features" -> report.numFeatures,
      "nonzeros" -> report.nonzeros,
      "params" -> c.params.map(p => s"${p._1} ${p._2}").mkString(", "),
      "orientation" -> orientation,
      "workers" -> report.numPartitions,
      "targets" -> Targets,
      "roundsToSuboptimality" -> toSuboptimality,
      "roundsToGap" -> toGap,
      "nonzeroCoefficients" -> nonzeros,
      "optimumWithin" -> proof.relativeGap,
      "suboptimalities" -> report.rounds.map(r => suboptimality(r.objective)),
      "gaps" -> report.rounds.map(_.relativeGap))
  }

  private def text(rounds: Seq[Option[Int]]): String = rounds.map(_.fold("-")(_.toString)).mkString(" / ")
}
