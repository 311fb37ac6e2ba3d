package dwell.ml

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}

import dwell.{Logged, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression

/** Bad input: Spark's answer where Spark has a rule, else an exception that names column, row and fix. */
class BadInputSuite extends SparkSuite {

  private val good: Seq[(Double, Double, Vector)] = Seq(
    (1.0, 1.0, Vectors.dense(1.0, 2.0)),
    (2.0, 1.0, Vectors.dense(0.0, 1.0)),
    (4.0, 1.0, Vectors.sparse(2, Seq((1, 3.0)))))

  private def frame(rows: Seq[(Double, Double, Vector)]): DataFrame =
    spark.createDataFrame(rows).toDF("label", "w", "features").coalesce(1)

  private def estimator: LinearRegression = new LinearRegression().setRegParam(0.1).setWeightCol("w")

  private def rejected(rows: Seq[(Double, Double, Vector)], expected: String*): Unit = {
    val e = intercept[Exception](estimator.fit(frame(rows)))
    expected.foreach(text => assert(messages(e).contains(text)))
  }

  /** Spark's estimator refuses the rows, and Dwell's with the same words. */
  private def asSpark(rows: Seq[(Double, Double, Vector)], words: String): Unit = {
    val stock = new SparkLinearRegression().setRegParam(0.1).setWeightCol("w").setSolver("l-bfgs")
    assert(messages(intercept[Exception](stock.fit(frame(rows)))).contains(words))
    rejected(rows, words)
  }

  test("NaN and infinite features, labels and weights, negative weights: Spark's messages") {
    Seq(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity).foreach { bad =>
      asSpark(good :+ ((1.0, 1.0, Vectors.dense(bad, 1.0))), "Vector values MUST NOT be NaN or Infinity")
      asSpark(good :+ ((1.0, 1.0, Vectors.sparse(2, Seq((0, bad))))), "Vector values MUST NOT be NaN or Infinity")
      asSpark(good :+ ((bad, 1.0, Vectors.dense(1.0, 1.0))), "Labels MUST NOT be")
      asSpark(good :+ ((1.0, bad, Vectors.dense(1.0, 1.0))), "Weights MUST NOT be")
    }
    asSpark(good :+ ((1.0, -1.0, Vectors.dense(1.0, 1.0))), "Weights MUST NOT be Negative or Infinity")
  }

  test("all weights zero, no rows") {
    rejected(good.map(_.copy(_2 = 0.0)), "'w'", "all weights are zero")
    val e = intercept[Exception](estimator.fit(frame(good).filter("label > 100")))
    assert(e.getMessage != null && e.getMessage.nonEmpty)
  }

  test("vectors of length 0, and maxIter 0 of the normal equations: Spark's answers") {
    val none = frame(good.map(row => (row._1 % 2, 1.0, Vectors.dense(Array.emptyDoubleArray): Vector)))
    def refused(words: String, data: DataFrame, stock: Estimator[_], ours: Estimator[_]): Unit = {
      val (said, warnings) = Logged.warnings(Seq(stock, ours).map(e => messages(intercept[Exception](e.fit(data)))))
      assert(said.forall(_.contains(words)) && warnings.count(_.contains("trained by Spark's own code")) == 1, said)
    }
    val longer = "Vector should have dimension larger than zero"
    refused(longer, none, new SparkLogisticRegression, new LogisticRegression)
    refused(longer, none, new SparkLinearSVC, new LinearSVC)
    def linear(set: SparkLinearRegression => Any) = {
      val both = Seq(new SparkLinearRegression, new LinearRegression)
      both.foreach(set)
      both
    }
    for (set <- Seq[SparkLinearRegression => Any](_.setSolver("l-bfgs"), _.setLoss("huber"))) {
      val Seq(stock, ours) = linear(set)
      refused(longer, none, stock, ours)
      Seq(stock, ours).foreach(_.setMaxIter(0).fit(frame(good)))
    }
    for (set <- Seq[SparkLinearRegression => Any](identity, _.setElasticNetParam(0.5).setRegParam(0.1))) {
      val Seq(stock, ours) = linear(set).map(_.fit(none))
      assert(ours.numFeatures == 0 && ours.intercept == stock.intercept)
      val Seq(stockOfNone, oursOfNone) = linear(set).map(_.setMaxIter(0))
      for (data <- Seq(none, frame(good)))
        refused("maxIter must be a positive integer: 0", data, stockOfNone, oursOfNone)
    }
  }

  test("vectors of unequal length") {
    rejected(good :+ ((1.0, 1.0, Vectors.dense(1.0, 2.0, 3.0))), "'features'", "row 3", "length")
  }

  test("constant label, constant and all-zero columns: Spark's answers") {
    val rows = Seq.tabulate(20)(j => (j * 0.5 + j % 3, 1.0, Vectors.dense(7.0, j.toDouble, 0.0, 0.1): Vector))
    Seq(true, false).foreach { intercept =>
      val model = estimator.setFitIntercept(intercept).fit(frame(rows))
      assert(model.coefficients.toArray.indices.filter(model.coefficients(_) != 0.0) == Seq(1))
    }
    val flat = estimator.fit(frame(rows.map(_.copy(_1 = 2.0))))
    assert(flat.coefficients.numNonzeros == 0 && flat.intercept == 2.0)
  }

  test("columns that are missing or of another type: Spark's schema errors") {
    intercept[IllegalArgumentException](estimator.setFeaturesCol("nothing").fit(frame(good)))
    intercept[IllegalArgumentException](
      estimator.fit(frame(good).selectExpr("label", "w", "array(1.0, 2.0) as features")))
  }

  test("integer labels and weights are cast") {
    val cast = frame(good).selectExpr("cast(label as int) as label", "cast(w as long) as w", "features")
    assert(estimator.fit(cast).coefficients == estimator.fit(frame(good)).coefficients)
  }

  test("more workers than features, and a single row") {
    val model = estimator.setNumWorkers(5).fit(frame(good))
    assert(dwell.report.FitReport.of(model).converged)
    val alone = estimator.setNumWorkers(1).fit(frame(good))
    assert(Vectors.sqdist(model.coefficients, alone.coefficients) < 1e-6)
    val single = estimator.fit(frame(good.take(1)))
    assert(single.coefficients.numNonzeros == 0 && single.intercept == 1.0)
  }

  private val tooLong = "stepSize = 30.0 is too long"

  test("a stepSize that is too long for the L2 penalty: before the data is read where the Params tell") {
    val unread = udf((_: Double) => sys.error("the data was read"): Double)
    val rows = frame(good).withColumn("label", unread(col("label")))
    def message(e: Estimator[_]): String = messages(intercept[Exception](e.fit(rows)))
    def logistic(algorithm: String, step: String, elasticNet: Double): String =
      message(
        new LogisticRegression()
          .setAlgorithm(algorithm)
          .setStepSize(step)
          .setRegParam(0.05)
          .setElasticNetParam(elasticNet))
    val said = logistic("ma-sgd", "30", 0.0)
    Seq(tooLong, "regParam", "0.05", "below 20.0", "'auto'").foreach(part => assert(said.contains(part), said))
    val svc = new LinearSVC().setAlgorithm("ma-sgd").setStepSize(30.0).setRegParam(0.05)
    assert(message(svc).contains(tooLong))
    // An L1 penalty sets no bound, and other algorithms have no such steps.
    Seq(("ma-sgd", "19", 0.0), ("ma-sgd", "auto", 0.0), ("ma-sgd", "30", 0.9), ("l-bfgs", "30", 0.0)).foreach {
      case (algorithm, step, elasticNet) =>
        assert(logistic(algorithm, step, elasticNet).contains("the data was read"), s"$algorithm $step $elasticNet")
    }
  }

  test("a stepSize that is too long for the L2 penalty of LinearRegression, which the label's deviation divides") {
    def fit(unit: Double) =
      estimator.setAlgorithm("ma-sgd").setStepSize(30.0).fit(frame(good.map(row => row.copy(_1 = row._1 * unit))))
    Seq(1.0, 1e-3).foreach { unit =>
      val said = messages(intercept[IllegalArgumentException](fit(unit)))
      Seq(tooLong, "divided by the label's deviation", "'auto'").foreach(part => assert(said.contains(part), said))
    }
    // Judged by the Params alone, the step would be too long here as well.
    fit(1e3)
  }
}
