package dwell.bench.cd

import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame

import dwell.bench.Bench
import dwell.ml.regression.LinearRegression

/** LinearRegression by Dwell beside Spark's l-bfgs, to a relative suboptimality of 1e-3 and of 1e-6: [[BesideSpark]]. */
object LinearRegressionBench {

  def main(args: Array[String]): Unit = Bench.run("LinearRegression bench", args) { bench =>
    def regression(name: String, data: DataFrame, params: (String, Any)*) =
      BesideSpark.Case(
        "LinearRegression",
        new LinearRegression(),
        new SparkLinearRegression(),
        name,
        data,
        params :+ ("solver" -> "l-bfgs"))
    val packages = bench.packages.toSeq.flatMap { p =>
      Seq(
        regression("packages", p, "standardization" -> true, "regParam" -> 1.0, "elasticNetParam" -> 0.0),
        regression("packages", p, "standardization" -> true, "regParam" -> 0.02, "elasticNetParam" -> 0.5))
    }
    // Rows of unit norm are not standardised, as is usual for text.
    val name = "wide, shaped like news20"
    val wide = Seq(
      regression(name, bench.wide, "standardization" -> false, "regParam" -> 5e-5, "elasticNetParam" -> 0.0),
      regression(name, bench.wide, "standardization" -> false, "regParam" -> 2e-4, "elasticNetParam" -> 0.5))
    val beside = new BesideSpark(Seq(1e-3, 1e-6), proofTolerance = 1e-9, sparkIterations = 100)
    (packages ++ wide).foreach(beside.compare(bench, _))
  }
}
