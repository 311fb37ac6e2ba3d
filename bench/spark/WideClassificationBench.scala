package dwell.bench

import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}

import dwell.ml.classification.{LinearSVC, LogisticRegression}

/**
 * LogisticRegression and LinearSVC by Dwell beside Spark's, to a relative suboptimality of 1e-4 on wide text (
 * [[BenchData.libraries]], or generated data where there is no such file): [[BesideSpark]].
 */
object WideClassificationBench {

  def main(args: Array[String]): Unit = Bench.run("classification bench", args) { bench =>
    val (name, data) = bench.libraries.fold("wide, shaped like news20" -> bench.wideClasses)("libraries" -> _)
    // One for the sum of the losses: what text is usually trained with.
    val params = Seq("regParam" -> 1.0 / data.count(), "standardization" -> false)
    val beside = new BesideSpark(Seq(1e-4), proofTolerance = 1e-6, sparkIterations = 100)
    beside.compare(
      bench,
      BesideSpark.Case(
        "LogisticRegression",
        new LogisticRegression(),
        new SparkLogisticRegression(),
        name,
        data,
        params))
    beside.compare(bench, BesideSpark.Case("LinearSVC", new LinearSVC(), new SparkLinearSVC(), name, data, params))
  }
}
