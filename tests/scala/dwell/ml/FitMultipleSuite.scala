package dwell.ml

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.classification.{LinearSVCModel, LogisticRegressionModel}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, udf}

import dwell.SparkSuite
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Several Param maps on one data set. */
class FitMultipleSuite extends SparkSuite {

  /** Within the gap of 1e-10, a warm start ends at another point than a cold start. */
  private val Tolerance = 1e-4

  private lazy val data: DataFrame = ClassificationData.sparse(spark, 0.5)

  private def estimator: LogisticRegression = new LogisticRegression().setLocalWork(20).setTol(1e-10)

  /** Ids of the cached data, test data included. */
  private def cached: Set[Int] = spark.sparkContext.getPersistentRDDs.keySet.toSet

  private def assertReleased(before: Set[Int]): Unit =
    eventually(assert(cached.subsetOf(before), spark.sparkContext.getPersistentRDDs.toString))

  private def distance(a: Vector, b: Vector): Double = math.sqrt(Vectors.sqdist(a, b)) / (1.0 + Vectors.norm(b, 2.0))

  /** The data, and a count of the feature vectors read from it. */
  private def counted: (DataFrame, () => Long) = {
    val reads = spark.sparkContext.longAccumulator
    val count = udf { (v: Vector) =>
      reads.add(1L)
      v
    }.asNondeterministic()
    (data.withColumn("features", count(col("features"))), () => reads.value)
  }

  test("models come in the order of the Param maps, each with its report, from one reading of the data") {
    val ours = estimator
    val maps = Seq(0.01, 1.0, 0.1).map(r => ParamMap(ours.regParam -> r)) :+
      ParamMap(ours.regParam -> 0.1, ours.elasticNetParam -> 1.0) :+
      ParamMap(ours.regParam -> 0.1, ours.standardization -> false) :+
      ParamMap(ours.regParam -> 0.1, ours.fitIntercept -> false)
    data.count()
    val before = cached
    val (frame, reads) = counted
    val models = ours.fit(frame, maps)
    assert(reads() < 2 * data.count(), "the data was read more than once")
    assertReleased(before)
    models.zip(maps).foreach { case (model, map) =>
      val alone = ours.fit(data, map)
      assert(distance(model.coefficients, alone.coefficients) <= Tolerance, map)
      assert(model.getRegParam == map(ours.regParam) && model.hasParent)
      assert(FitReport.of(model).converged && FitReport.of(model) != FitReport.of(alone))
      assert(model.binarySummary.areaUnderROC > 0.5)
    }
    assert(models(5).intercept == 0.0 && models(3).coefficients.numNonzeros < models(2).coefficients.numNonzeros)
  }

  test("within a family the largest penalty is first; other families and columns are among them") {
    val ours = estimator
    val other = data.withColumn("others", col("features"))
    val maps = Array(
      ParamMap(ours.regParam -> 0.01),
      ParamMap(ours.regParam -> 0.02, ours.featuresCol -> "others"),
      ParamMap(ours.regParam -> 0.5),
      ParamMap(ours.regParam -> 0.0),
      ParamMap(ours.regParam -> 0.1, ours.family -> "multinomial"))
    val before = cached
    val fits = ours.fitMultiple(other, maps)
    val order = Iterator.continually(fits).takeWhile(_.hasNext).map(_.next()).toSeq
    assert(order.map(_.index) == Seq(2, 0, 3, 4, 1))
    assert(order.forall(m => FitReport.of(m.model).solver == "native"))
    intercept[NoSuchElementException](fits.next())
    assertReleased(before)
  }

  test("next may be called by several threads, and the models are the same to the last bit") {
    val ours = estimator
    val penalties = Seq(0.3, 0.01, 0.1, 0.03, 1.0, 0.02)
    val maps = penalties.map(r => ParamMap(ours.regParam -> r))
    data.count()
    val before = cached
    val inOrder = ours.fit(data, maps)
    val fits = ours.fitMultiple(data, maps.toArray)
    val pool = Executors.newFixedThreadPool(6)
    try {
      val tasks =
        penalties.map(_ => (() => fits.next()): Callable[dwell.ml.training.IndexedModel[LogisticRegressionModel]])
      val models = pool.invokeAll(tasks.asJava, 300, TimeUnit.SECONDS).asScala.map(_.get())
      assert(models.map(_.index).toSet == penalties.indices.toSet)
      models.foreach(m => assert(m.model.getRegParam == penalties(m.index)))
      models.foreach(m => assert(m.model.coefficients == inOrder(m.index).coefficients))
    } finally pool.shutdownNow()
    assertReleased(before)
  }

  test("the data is released when a fit fails, when the caller closes early, and when nothing was read") {
    val ours = estimator
    val before = cached
    val failing = Seq(ParamMap(ours.regParam -> 0.1), ParamMap(ours.regParam -> 0.05, ours.labelCol -> "missing"))
    intercept[IllegalArgumentException](ours.fit(data, failing))
    assertReleased(before)
    val dual = ParamMap(ours.regParam -> 0.1, ours.elasticNetParam -> 1.0, ours.orientation -> "dual")
    intercept[IllegalArgumentException](ours.fit(data, Seq(ParamMap(ours.regParam -> 0.5), dual)))
    assertReleased(before)
    val fits = ours.fitMultiple(data, failing.toArray)
    fits.next()
    fits.close()
    assert(!fits.hasNext)
    assertReleased(before)
    assert(ours.fit(data, Seq.empty[ParamMap]).isEmpty)
    // An estimator that was the parent of shared fits can be fitted again like any other.
    val model = ours.fit(data, Seq(ParamMap(ours.regParam -> 0.2))).head
    assert(model.parent.fit(data).asInstanceOf[LogisticRegressionModel].getRegParam == 0.2)
  }

  test("the other estimators: families of losses and solvers") {
    val svc = new LinearSVC().setLocalWork(20).setTol(1e-8).setMaxIter(1000)
    val machines = svc.fit(
      data,
      Seq(
        ParamMap(svc.regParam -> 0.05),
        ParamMap(svc.regParam -> 0.05, svc.loss -> "squaredHinge"),
        ParamMap(svc.regParam -> 0.5)))
    assert(machines.forall(FitReport.of(_).solver == "native"))
    assert(Vectors.norm(machines(2).coefficients, 2.0) < Vectors.norm(machines(0).coefficients, 2.0))
    assert(machines(1).coefficients != machines(0).coefficients && machines.forall(_.isInstanceOf[LinearSVCModel]))
    val linear = new LinearRegression().setLocalWork(20).setTol(1e-10)
    val maps = Seq(
      ParamMap(linear.regParam -> 0.1, linear.solver -> "normal"),
      ParamMap(linear.regParam -> 0.1, linear.solver -> "l-bfgs"))
    linear.fit(data, maps).zip(maps).foreach { case (model, map) =>
      assert(distance(model.coefficients, linear.fit(data, map).coefficients) <= Tolerance)
    }
  }
}
