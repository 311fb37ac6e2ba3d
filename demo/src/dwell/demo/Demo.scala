package dwell.demo

import org.apache.spark.ml.{Pipeline, PipelineModel}
import org.apache.spark.ml.evaluation.RegressionEvaluator
import org.apache.spark.ml.feature.{CountVectorizer, IDF, RegexTokenizer}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionModel}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, log1p}

import dwell.ml.regression.LinearRegression
import dwell.record.{RoundCompleted, RoundRecord}
import dwell.report.FitReport

/**
 * Ridge regression of the logarithm of a package's installed size on the words of its description, by Dwell and by
 * Spark's own solver on the same data and with the same Params; then saves Dwell's model.
 *
 * Arguments: the TSV file of packages.py, or `-` for the sample data of Spark's distribution; the folder to write to.
 */
object Demo {
  private val RegParam = 1.0
  private val Tolerance = 1e-6

  def main(args: Array[String]): Unit = {
    val Array(input, output) = args
    val spark = SparkSession.builder().appName("dwell demo").getOrCreate()
    spark.sparkContext.addSparkListener(new PrintRounds)
    val data = if (input == "-") sample(spark) else packages(spark, input)
    val Array(train, test) = data.randomSplit(Array(0.8, 0.2), seed = 1L).map(_.cache())
    println(s"training rows ${train.count()}, held-out rows ${test.count()}, features ${width(train)}")

    val ours = new LinearRegression()
    val theirs = new SparkLinearRegression()
    Seq(ours, theirs).foreach(_.setRegParam(RegParam).setTol(Tolerance).setSolver("l-bfgs"))

    println(s"\nDwell, regParam $RegParam, tol $Tolerance (the duality gap, relative):")
    println(RoundRecord.header)
    val (model, seconds) = timed(ours.fit(train))
    val report = FitReport.of(model)
    require(report.solver == "native", s"the demo is to run native code, but the solver was: ${report.solver}")
    println(report.toText.linesIterator.take(5).mkString("\n", "\n", ""))
    report.writeHtml(s"$output/report.html")
    println("the same with charts: report.html in the demo's directory")
    println(s"\nSpark's l-bfgs, regParam $RegParam, tol $Tolerance (the last step's relative improvement) ...")
    val (sparkModel, sparkSeconds) = timed(theirs.fit(train))

    // Both histories are in the units of Spark's scaled label; the certificate bounds the optimum for both models.
    val objective = model.summary.objectiveHistory.last
    val optimum = objective * (1.0 - report.relativeGap)
    val rmse = new RegressionEvaluator().setMetricName("rmse")
    println()
    println(
      f"${""}%-16s ${"objective"}%14s ${"above optimum by"}%18s ${"rounds"}%7s ${"seconds"}%8s ${"held-out RMSE"}%14s")
    Seq(("Dwell", model, seconds), ("Spark l-bfgs", sparkModel, sparkSeconds)).foreach { case (name, m, time) =>
      val value = m.summary.objectiveHistory.last
      val error = rmse.evaluate(m.transform(test))
      println(
        f"$name%-16s $value%14.9f ${"<= %.2e".format(value / optimum - 1.0)}%18s ${m.summary.totalIterations}%7d " +
          f"$time%8.2f $error%14.6f")
    }
    val difference =
      model.coefficients.toArray.zip(sparkModel.coefficients.toArray).map { case (a, b) => math.abs(a - b) }
    println(f"largest difference between the two models' coefficients: ${difference.max}%.2e")

    model.write.overwrite().save(s"$output/model")
    model.transform(test).select("features", "prediction").write.mode("overwrite").parquet(s"$output/predictions")
    println(s"model and its held-out predictions saved")
    spark.stop()
  }

  /** Words of the descriptions, weighted by inverse document frequency, against log(1 + installed size in KiB). */
  private def packages(spark: SparkSession, path: String): DataFrame = {
    println("data: descriptions of this distribution's packages; label: log(1 + installed size in KiB)")
    val rows = spark.read
      .option("sep", "\t")
      .option("quote", "")
      .schema("package string, section string, size double, text string")
      .csv(path)
      .na
      .drop()
      .withColumn("label", log1p(col("size")))
    val words = new Pipeline().setStages(
      Array(
        new RegexTokenizer().setInputCol("text").setOutputCol("words").setPattern("[^a-z0-9+]+"),
        new CountVectorizer().setInputCol("words").setOutputCol("counts"),
        new IDF().setInputCol("counts").setOutputCol("features")))
    val model: PipelineModel = words.fit(rows)
    model.transform(rows).select("label", "features")
  }

  private def sample(spark: SparkSession): DataFrame = {
    val path = s"${sys.env("SPARK_HOME")}/data/mllib/sample_linear_regression_data.txt"
    println("data: this machine has no apt, so the sample data of Spark's distribution (501 rows x 10 features)")
    spark.read.format("libsvm").load(path)
  }

  private def width(data: DataFrame): Int = data.first().getAs[org.apache.spark.ml.linalg.Vector]("features").size

  private def timed(fit: => LinearRegressionModel): (LinearRegressionModel, Double) = {
    val start = System.nanoTime()
    val model = fit
    (model, (System.nanoTime() - start) * 1e-9)
  }

  /** Prints each round as it passes. */
  private class PrintRounds extends SparkListener {
    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case RoundCompleted(_, record) => println(record.toLine)
      case _ =>
    }
  }
}
