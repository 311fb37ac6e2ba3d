package dwell.ml

import scala.util.Random

import org.apache.spark.ml.classification.LinearSVCModel
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.udf

import dwell.{CheckLong, Logged, SparkSuite}
import dwell.ml.classification.LinearSVC
import dwell.problem.Hinge
import dwell.report.{FitReport, LinearFitReport}

/** The hinge with few features by Newton's method on proximal problems: the optimum, with a proof, in few passes. */
class ProximalHingeSuite extends SparkSuite {

  /** Features of different scales and means, of which the last is constant; a label of which one in eight is wrong, and a rare one. */
  private lazy val dense: DataFrame = {
    val random = new Random(11)
    val rows = Seq.fill(160) {
      val x = Array.tabulate(5)(j => if (j == 4) 3.0 else (random.nextGaussian() + j) * math.pow(4.0, j - 2))
      val score = x(0) * 8.0 - x(1) + 0.5 * x(2) + random.nextGaussian()
      val wrong = random.nextInt(8) == 0
      val label = if (score > 1.0 != wrong) 1.0 else 0.0
      (label, if (score > 3.5) 1.0 else 0.0, 0.5 + random.nextInt(3), Vectors.dense(x): Vector)
    }
    spark.createDataFrame(rows).toDF("label", "rare", "w", "features").repartition(3).cache()
  }

  private lazy val sparse: DataFrame = {
    val thinned = udf { v: Vector => Vectors.dense(v.toArray.map(x => if (x < 0.5) 0.0 else x)).toSparse: Vector }
    dense.withColumn("features", thinned(dense("features"))).cache()
  }

  private def estimator: LinearSVC = new LinearSVC().setAlgorithm("newton").setTol(1e-7)

  private def report(model: LinearSVCModel): LinearFitReport =
    FitReport.of(model).asInstanceOf[LinearFitReport]

  /** The rows for the reference, with y in {-1, 1}. */
  private def reference(data: DataFrame, label: String, weighted: Boolean, intercept: Boolean): ReferenceSolver = {
    val rows = data.select(label, "w", "features").collect()
    new ReferenceSolver(
      rows.map(_.getAs[Vector](2).toArray),
      rows.map(r => 2.0 * r.getDouble(0) - 1.0),
      rows.map(r => if (weighted) r.getDouble(1) else 1.0),
      Hinge,
      intercept)
  }

  for ((name, data) <- Seq("dense" -> (() => dense), "sparse" -> (() => sparse)))
    test(s"$name: the optimum of an interior point method, and a bound below it") {
      val settings = for {
        regParam <- Seq(1.0, 0.01, 1e-4)
        label <- Seq("label", "rare")
        weighted <- Seq(true, false)
        standardization <- Seq(true, false)
        intercept <- Seq(true, false)
      } yield (regParam, label, weighted, standardization, intercept)
      for ((regParam, label, weighted, standardization, intercept) <- CheckLong.pairsWithin(settings)) {
        val clue = s"$name $regParam $label weighted $weighted standardization $standardization intercept $intercept"
        val svc = estimator.setRegParam(regParam).setLabelCol(label).setStandardization(standardization)
        val model = (if (weighted) svc.setWeightCol("w") else svc).setFitIntercept(intercept).fit(data())
        val told = report(model)
        val other = reference(data(), label, weighted, intercept)
        val weights = data().select("w").collect().map(r => if (weighted) r.getDouble(0) else 1.0)
        val total = weights.sum
        val factor = if (standardization) total / (total - weights.map(w => w * w).sum / total) else 0.0
        val (a, b) = other.solve(0.0, regParam, factor)
        val best = other.objective(a, b, 0.0, regParam, factor)
        val ours = other.objective(model.coefficients.toArray, model.intercept, 0.0, regParam, factor)
        assert(told.algorithm == "newton" && told.converged && told.relativeGap <= 1e-7, s"$clue: ${told.toText}")
        assert(math.abs(told.objective - ours) <= 1e-12 * ours, s"$clue: ${told.objective}, $ours")
        assert(ours <= best * (1.0 + 1e-7), s"$clue: $ours, $best")
        // A bound of the optimum is below every objective, up to rounding.
        assert(told.objective - told.gap <= best * (1.0 + 1e-12), s"$clue: ${told.objective} - ${told.gap}, $best")
      }
    }

  private def tall(rows: Int, features: Int, partitions: Int): DataFrame = {
    val random = new Random(3)
    val truth = Array.fill(features)(random.nextGaussian())
    val made = Seq.fill(rows) {
      val x = Array.fill(features)(random.nextGaussian())
      val score = x.indices.map(j => x(j) * truth(j)).sum / math.sqrt(features) + 0.7 * random.nextGaussian()
      (if (score > 0.2) 1.0 else 0.0, Vectors.dense(x))
    }
    spark.createDataFrame(made).toDF("label", "features").repartition(partitions).cache()
  }

  test("a gap of 1e-3 within 20 passes and 1e-6 within 60, whatever the penalty and the number of workers") {
    val data = tall(4000, 10, 4)
    for (regParam <- Seq(1e-2, 1e-4, 1e-6)) {
      val told = Seq(1, 2).map { workers =>
        report(estimator.setTol(1e-6).setRegParam(regParam).setNumWorkers(workers).fit(data))
      }
      told.foreach { fit =>
        val passes = fit.rounds.scanLeft(1.0)(_ + _.localWork).tail
        def until(gap: Double): Double =
          passes(fit.rounds.indexWhere(round => round.gap <= gap * round.objective))
        assert(until(1e-3) <= 20.0 && until(1e-6) <= 60.0, s"$regParam: ${until(1e-3)}, ${until(1e-6)}")
      }
      val Seq(one, two) = told
      assert(one.rounds.size == two.rounds.size, regParam)
      assert(math.abs(one.objective - two.objective) <= 1e-9 * one.objective, regParam)
    }
    data.unpersist()
  }

  test("classes that a plane separates, and a fit that maxIter ends: the best model so far, and its gap") {
    val rows = Seq
      .tabulate(400) { i =>
        val x = Array((i % 20) / 10.0 - 0.95, (i / 20) / 10.0 - 0.95)
        (if (x(0) + x(1) > 0.0) 1.0 else 0.0, Vectors.dense(x))
      }
      .filter(row => math.abs(row._2(0) + row._2(1)) > 0.3)
    val data = spark.createDataFrame(rows).toDF("label", "features").cache()
    val separable = report(estimator.setRegParam(1e-4).fit(data))
    assert(separable.converged && separable.relativeGap <= 1e-7, separable.toText)
    val few = report(estimator.setRegParam(1e-4).setMaxIter(4).fit(data))
    assert(!few.converged && few.rounds.last.round == 4, few.toText)
    val objectives = few.rounds.map(_.objective)
    assert(objectives == objectives.sorted.reverse && few.objective == objectives.last)
    assert(few.objective >= separable.objective && few.objective - few.gap <= separable.objective, few.toText)
    // A fit that chooses its methods itself goes on as Spark's own would.
    val free = report(new LinearSVC().setRegParam(1e-4).setMaxIter(4).fit(data))
    assert(free.algorithm == "newton+l-bfgs" && free.handover.contains("maxIter = 4 rounds were done"), free.toText)
    assert(free.toText.linesIterator.exists(_.startsWith("newton: ")), free.toText)
    assert(free.objective <= few.objective && free.objective - free.gap <= separable.objective, free.toText)
    data.unpersist()
  }

  test("a grid of penalties comes to the models of single fits") {
    val data = tall(1500, 5, 3)
    val svc = estimator
    val grid = Array(1e-1, 1e-2, 1e-3).map(r => org.apache.spark.ml.param.ParamMap(svc.regParam -> r))
    val together = svc.fit(data, grid.toSeq)
    together.zip(grid).foreach { case (model, map) =>
      val single = svc.copy(map).fit(data)
      assert(report(model).converged)
      assert(math.abs(report(model).objective - report(single).objective) <= 2e-7 * report(single).objective)
    }
    data.unpersist()
  }

  test("a model that predicts one class for nearly every row: its share in the report, and one WARN") {
    val random = new Random(17)
    // Three in ten of class 1 wherever they are: the best plane has nearly all rows on one side.
    val rows = Seq.fill(400) {
      val x: Vector = Vectors.dense(Array.fill(3)(random.nextGaussian()))
      (if (random.nextInt(10) < 3) 1.0 else 0.0, 1.0 + random.nextInt(3), x)
    }
    val noise = spark.createDataFrame(rows).toDF("label", "w", "features").cache()
    for (standardization <- Seq(true, false)) {
      val svc = estimator.setRegParam(0.01).setWeightCol("w").setStandardization(standardization)
      val (model, warnings) = Logged.warnings(svc.fit(noise))
      val predicted = model.transform(noise).select("prediction", "w").collect()
      val share = predicted.filter(_.getDouble(0) == 0.0).map(_.getDouble(1)).sum / predicted.map(_.getDouble(1)).sum
      val told = report(model)
      assert(share >= 0.99 && math.abs(told.oneClass - share) <= 1e-9, s"$share\n${told.toText}")
      assert(warnings.count(_.contains(f"predicts one class for ${100.0 * share}%.2f%%")) == 1, warnings)
      assert(Seq(told.toText, told.toHtml).forall(_.contains("predicts one class for")))
    }
  }

  test("no such WARN where the model predicts both classes") {
    val (model, warnings) = Logged.warnings(estimator.setRegParam(0.01).fit(dense))
    assert(report(model).oneClass.isNaN && !warnings.exists(_.contains("one class")), warnings)
  }
}
