package dwell.bench.cd

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}

import dwell.bench.Bench
import dwell.ml.classification.{LinearSVC, LogisticRegression}

/**
 * LogisticRegression and LinearSVC by Dwell beside Spark's, to a relative suboptimality of 1e-4 on wide text (
 * [[BenchData.libraries]], or generated data where there is no such file): [[BesideSpark]].
 */
object WideClassificationBench {

  def main(args: Array[String]): Unit = Bench.run("classification bench", args) { bench =>
    val (name, data) = bench.libraries.fold("wide, shaped like news20" -> bench.wideClasses)("libraries" -> _)
    val beside = new BesideSpark(Seq(1e-4), proofTolerance = 1e-6, sparkIterations = 100)
    // One for the sum of the losses, what text is usually trained with; and standardised, which is Spark's default.
    for ((regParam, standardization) <- Seq(1.0 / data.count() -> false, 0.01 -> true)) {
      val params = Seq("regParam" -> regParam, "standardization" -> standardization)
      def compare(estimator: String, ours: Estimator[_], theirs: Estimator[_]): Unit =
        beside.compare(bench, BesideSpark.Case(estimator, ours, theirs, name, data, params))
      compare("LogisticRegression", new LogisticRegression(), new SparkLogisticRegression())
      compare("LinearSVC", new LinearSVC(), new SparkLinearSVC())
    }
  }
}
