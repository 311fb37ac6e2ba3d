package dwell.ml

import java.nio.file.Files

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression, LogisticRegressionModel}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{expr, udf}

import dwell.{CheckLong, SparkSuite}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.FitReport

/** Model averaging and L-BFGS through the estimators, measured against Spark's own optimum. */
class GradientAlgorithmsSuite extends SparkSuite {

  private val Algorithms = Seq("l-bfgs", "ma-sgd")

  /** The relative gap of a model at the optimum, up to the root of what its objective is above it. */
  private val Proven = 1e-4

  /** Most iterations at the corners of the hinge: later ones fail, each after many evaluations. */
  private val CornerIterations = 25

  /** Relative error of objectives if both sides end with second-order steps at a far smaller tol. */
  private val Tight = 1e-7

  /** Relative error of the objective of model averaging with a strongly convex penalty: the noise that remains after
   * enough epochs. */
  private val Averaged = 1e-4

  /** The same if the scales of features differ by a factor of six, so that a step that suits one feature is too long
   * or too short for another. */
  private val Unscaled = 3e-3

  /** The same without strong convexity, where the error falls only with the square root of the time. */
  private val Weakly = 1e-2

  /** Words, most of which are in one text or none. */
  private val RareWords = 20000

  /** Rows of three classes with weights; features of different scale, one of them constant, half of their entries zero. */
  private lazy val data: DataFrame = {
    val random = new Random(7)
    val planted = Array.fill(3, 6)(random.nextGaussian())
    val rows = Seq.fill(600) {
      val x = Array.tabulate(6)(j => if (random.nextBoolean()) 0.0 else random.nextGaussian() * (1 + j))
      val scores = planted.map(w => w.indices.map(j => w(j) * x(j) / (1 + j)).sum + 0.7 * random.nextGaussian())
      (scores.indexOf(scores.max).toDouble, 0.5 + random.nextDouble(), Vectors.dense(x :+ 2.5).compressed)
    }
    spark.createDataFrame(rows).toDF("label", "weight", "features").repartition(3).cache()
  }

  private lazy val binary: DataFrame =
    data.select((data("label") > 0.5).cast("double").as("label"), data("weight"), data("features")).cache()

  private def close(actual: Double, expected: Double, tolerance: Double): Unit =
    assert(math.abs(actual - expected) <= tolerance * math.abs(expected), s"$actual beside $expected")

  private def stock(regParam: Double, elasticNet: Double): SparkLogisticRegression =
    new SparkLogisticRegression()
      .setWeightCol("weight")
      .setRegParam(regParam)
      .setElasticNetParam(elasticNet)
      .setTol(1e-12)
      .setMaxIter(1000)

  private def ours(algorithm: String, regParam: Double, elasticNet: Double): LogisticRegression =
    new LogisticRegression()
      .setWeightCol("weight")
      .setRegParam(regParam)
      .setElasticNetParam(elasticNet)
      .setAlgorithm(algorithm)
      .setNumWorkers(2)
      .setAggregation("gang")
      .setTol(if (algorithm == "ma-sgd") 1e-6 else 1e-11)
      .setMaxIter(400)

  private def objective(model: LogisticRegressionModel): Double = model.summary.objectiveHistory.last

  private val penalties = Seq((0.05, 0.0), (0.05, 0.4), (0.02, 1.0), (0.0, 0.0))

  private val settings =
    for {
      title <- Seq("logistic", "softmax")
      penalty <- penalties
      standardize <- Seq(true, false)
      algorithm <- Algorithms
    } yield (title, penalty, standardize, algorithm)

  /** Spark's models, which several cases look at. */
  private val expected = mutable.Map.empty[Product, LogisticRegressionModel]

  for ((title, penalty @ (regParam, elasticNet), standardize, algorithm) <- CheckLong.pairsOf(settings))
    test(
      s"$title, $algorithm: Spark's optimum, regParam $regParam, elasticNetParam $elasticNet, standardization $standardize") {
      def rows = if (title == "logistic") binary else data
      def set[E <: SparkLogisticRegression](e: E): E = {
        e.setStandardization(standardize).setFitIntercept(elasticNet != 0.4)
        e
      }
      val expected =
        this.expected.getOrElseUpdate((title, penalty, standardize), set(stock(regParam, elasticNet)).fit(rows))
      val optimum = objective(expected)
      val model = set(ours(algorithm, regParam, elasticNet)).fit(rows)
      val report = FitReport.of(model)
      if (algorithm != "ma-sgd") {
        close(report.objective, optimum, Tight)
        assert(report.solver == "native" && report.converged && report.reason.isEmpty)
        assert(if (regParam > 0.0) report.relativeGap <= Proven else report.gap.isNaN, report.toText)
        val difference = (model.coefficientMatrix.toArray ++ model.interceptVector.toArray)
          .zip(expected.coefficientMatrix.toArray ++ expected.interceptVector.toArray)
          .map { case (a, b) => math.abs(a - b) / (1.0 + math.abs(b)) }
          .max
        // Without a penalty the objective hardly tells coefficients apart.
        assert(difference < (if (regParam == 0.0) 2e-2 else 1e-3), s"coefficients differ by $difference")
      } else if (regParam * (1.0 - elasticNet) > 0.0) {
        close(report.objective, optimum, if (standardize) Averaged else Unscaled)
        assert(report.dual <= optimum * (1.0 + 1e-9) && report.gap >= 0.0 && report.relativeGap < 0.05, report.toText)
      } else {
        close(report.objective, optimum, Weakly)
        // With an L1 penalty alone the dual variables shrink until they are feasible.
        if (regParam > 0.0) assert(report.dual <= optimum * (1.0 + 1e-9) && report.dual > 0.0)
        else assert(report.dual.isNaN)
      }
    }

  test("many rows and a strong penalty: a few rounds are enough, with an intercept, which has none, as without") {
    val rows = spark.sparkContext.parallelize(0 until 20000, 2).map { j =>
      val random = new Random(j)
      // Features far from centred, for which the intercept must compensate.
      val x = Array.fill(20)(if (random.nextInt(4) > 0) 1.0 else 0.0)
      (if (x.take(10).sum - x.drop(10).sum + random.nextGaussian() > 2.0) 1.0 else 0.0, Vectors.dense(x).compressed)
    }
    val many = spark.createDataFrame(rows).toDF("label", "features").cache()
    for (intercept <- Seq(true, false); regParam <- Seq(0.1, 1.0)) {
      def set(e: SparkLogisticRegression): SparkLogisticRegression =
        e.setRegParam(regParam).setFitIntercept(intercept).setStandardization(false)
      val optimum = objective(set(new SparkLogisticRegression().setTol(1e-12)).fit(many.coalesce(1)))
      val e = new LogisticRegression().setAlgorithm("ma-sgd").setNumWorkers(2).setAggregation("gang").setMaxIter(5)
      val report = FitReport.of(set(e).fit(many))
      // Steps that shrink with the L2 penalty alone leave more than five times this error in the intercept.
      close(report.objective, optimum, 1e-3)
      assert(!report.rounds.exists(_.note.contains("rose")), report.toText)
    }
  }

  test("squared loss: Spark's optimum, in the objective that Spark's choice of solver has") {
    val all =
      for ((solver, elasticNet) <- Seq("normal" -> 0.0, "l-bfgs" -> 0.3, "l-bfgs" -> 1.0);
        standardize <- Seq(true, false);
        algorithm <- Algorithms)
        yield ((solver, elasticNet), standardize, algorithm)
    val optima = mutable.Map.empty[Product, Double]
    for (((solver, elasticNet), standardize, algorithm) <- CheckLong.pairsWithin(all)) {
      def set[E <: SparkLinearRegression](e: E): E = {
        e.setWeightCol("weight").setRegParam(0.05).setElasticNetParam(elasticNet).setSolver(solver)
        e.setStandardization(standardize).setMaxIter(1000).setTol(1e-12)
        e
      }
      val optimum = optima.getOrElseUpdate(
        (solver, elasticNet, standardize), {
          val expected = set(new SparkLinearRegression()).fit(data.coalesce(1))
          Objective(solver, data, expected)(expected)
        })
      val e = set(new LinearRegression()).setAlgorithm(algorithm).setNumWorkers(2).setAggregation("gang")
      e.setTol(if (algorithm == "ma-sgd") 1e-6 else 1e-11)
      val model = e.fit(data)
      close(Objective(solver, data, model)(model), optimum, if (algorithm == "ma-sgd") Averaged else Tight)
      val report = FitReport.of(model)
      close(report.objective, Objective(solver, data, model)(model), 1e-9)
      assert(report.dual <= optimum * (1.0 + 1e-9))
      if (algorithm != "ma-sgd") assert(report.relativeGap <= Proven, report.toText)
    }
  }

  test("hinge and squared hinge: Spark's optimum, and CoCoA's") {
    val losses = Seq("hinge", "squaredHinge")
    val all =
      for (standardize <- Seq(true, false); loss <- losses; algorithm <- Algorithms)
        yield (standardize, loss, algorithm)
    val chosen = CheckLong.pairsWithin(all)
    for (standardize <- Seq(true, false)) {
      val hinge = new SparkLinearSVC().setWeightCol("weight").setRegParam(0.05).setStandardization(standardize)
      val optimum =
        hinge.setTol(1e-12).setMaxIter(CornerIterations).fit(binary.coalesce(1)).summary.objectiveHistory.last
      for (loss <- losses) {
        def svc = {
          val e = new LinearSVC().setNumWorkers(2).setAggregation("gang").setLoss(loss)
          e.setWeightCol("weight").setRegParam(0.05).setStandardization(standardize).setMaxIter(300)
          e
        }
        val exact = svc.setAlgorithm("cocoa")
        exact.setTol(1e-8)
        val best = FitReport.of(exact.fit(binary)).objective
        if (loss == "hinge") close(best, optimum, 1e-4)
        for (algorithm <- Algorithms if chosen.contains((standardize, loss, algorithm))) {
          val e = svc.setAlgorithm(algorithm)
          e.setTol(if (algorithm == "ma-sgd") 1e-6 else 1e-11)
          if (loss == "hinge" && algorithm != "ma-sgd") e.setMaxIter(CornerIterations)
          val report = FitReport.of(e.fit(binary))
          // The hinge has corners, at which steps of gradients stall.
          val tolerance =
            if (loss == "hinge") 1e-3
            else if (algorithm != "ma-sgd") Tight
            else if (standardize) Averaged
            else Unscaled
          close(report.objective, best, tolerance)
          assert(report.dual <= best * (1.0 + 1e-7) && report.gap >= 0.0)
        }
      }
    }
  }

  test("a softmax model is Spark's, centred over the classes, and predicts without Dwell") {
    val model = ours("l-bfgs", 0.05, 0.0).fit(data)
    assert(model.getClass == classOf[LogisticRegressionModel] && model.numClasses == 3)
    val matrix = model.coefficientMatrix
    assert(matrix.numRows == 3 && matrix.numCols == 7)
    for (j <- 0 until 7) assert(math.abs((0 until 3).map(matrix(_, j)).sum) < 1e-12)
    assert(math.abs(model.interceptVector.toArray.sum) < 1e-12)
    assert((0 until 3).forall(matrix(_, 6) == 0.0), "the constant feature")
    val path = Files.createTempDirectory("dwell-softmax").resolve("m").toString
    model.write.save(path)
    val loaded = LogisticRegressionModel.load(path)
    val expected = stock(0.05, 0.0).fit(data)
    def predictions(m: LogisticRegressionModel) = m.transform(data).select("prediction").collect().toSeq
    assert(predictions(loaded) == predictions(model) && predictions(model) == predictions(expected))
    assert(model.summary.accuracy == expected.summary.accuracy)
    assert(model.summary.labels.toSeq == Seq(0.0, 1.0, 2.0))
  }

  test("family=multinomial with two classes has a vector of coefficients for each") {
    val model = ours("l-bfgs", 0.05, 0.0).setFamily("multinomial").fit(binary)
    val expected = stock(0.05, 0.0).setFamily("multinomial").fit(binary)
    assert(model.coefficientMatrix.numRows == 2 && model.numClasses == 2)
    close(objective(model), objective(expected), Tight)
  }

  test("an initial model is where rounds begin") {
    for (rows <- Seq(binary, data); algorithm <- Algorithms) {
      val first = ours(algorithm, 0.05, 0.0).fit(rows)
      val again = ours(algorithm, 0.05, 0.0).setInitialModel(first).fit(rows)
      val report = FitReport.of(again)
      close(report.rounds.head.objective, FitReport.of(first).objective, 1e-12)
      assert(report.rounds.size < FitReport.of(first).rounds.size, algorithm)
    }
  }

  test("a step that is far too long is halved until it is not, and the report says so") {
    def fit(step: String) = {
      val e = new LinearRegression().setAlgorithm("ma-sgd").setStepSize(step).setNumWorkers(2).setAggregation("gang")
      FitReport.of(e.setWeightCol("weight").setRegParam(0.05).fit(data))
    }
    val report = fit("2.0")
    val notes = report.rounds.map(_.note).filter(_.nonEmpty)
    assert(notes.head.startsWith("first step size 2.00; "), notes.toString)
    assert(notes.head.contains("back to the average before, step size halved"), notes.toString)
    assert(report.toText.contains(notes.head))
    // A rise of up to a hundredth may be none, as the workers measure it.
    assert(report.rounds.forall(_.objective <= 1.01 * report.rounds.head.objective), report.toText)
    close(report.objective, fit("auto").objective, 1e-3)
  }

  test("rare words better the hinge of the best constant, whose corner steps on a few rows do not leave") {
    val random = new Random(5)
    val rows = Seq.fill(2000) {
      val isRare = random.nextInt(5) == 0
      val telling = if (isRare) Seq(RareWords + random.nextInt(60)) else Seq.empty
      val words = (telling ++ Seq.fill(10)(random.nextInt(RareWords))).distinct
      (if (isRare) 1.0 else 0.0, Vectors.sparse(RareWords + 60, words.map(_ -> 1.0 / math.sqrt(words.size))))
    }
    val texts = spark.createDataFrame(rows).toDF("label", "features").repartition(2)
    val svc = new LinearSVC().setAlgorithm("ma-sgd").setNumWorkers(2)
    svc.setRegParam(1.0 / rows.size).setStandardization(false).setTol(1e-3).setMaxIter(30)
    val report = FitReport.of(svc.fit(texts))
    val ofConstant = 2.0 * rows.count(_._1 > 0.0) / rows.size
    assert(report.objective < 0.75 * ofConstant, report.toText)
  }

  test("rounds of a part of an epoch, and of several, lead to the same optimum") {
    val optimum = objective(stock(0.05, 0.0).fit(binary))
    Seq(0.25, 3.0).foreach { epochs =>
      val report = FitReport.of(ours("ma-sgd", 0.05, 0.0).setLocalWork(epochs).fit(binary))
      assert(math.abs(report.objective - optimum) <= 1e-3 * optimum, s"$epochs: ${report.objective} beside $optimum")
    }
  }

  test("all modes, and fits one after another, give the same bits") {
    def bits(mode: String, algorithm: String): Seq[Double] = {
      val model = ours(algorithm, 0.05, 0.3).setMaxIter(12).setAggregation(mode).fit(data)
      assert(FitReport.of(model).aggregation == mode)
      model.coefficientMatrix.toArray.toSeq ++ model.interceptVector.toArray
    }
    for (algorithm <- Algorithms) {
      val expected = bits("driver", algorithm)
      Seq("driver", "gang", "shuffle").foreach(mode => assert(bits(mode, algorithm) == expected, s"$algorithm $mode"))
    }
  }

  test("rows left where they are give the model of moved blocks up to rounding, and each the same bits in all modes") {
    // Spark takes no barrier stage over a union, whose parents have other numbers of partitions.
    val halves = binary.randomSplit(Array(0.5, 0.5), seed = 1L)
    val four = halves.map(_.repartition(2)).reduce(_ union _).cache()
    val parts = binary.randomSplit(Array(0.8, 0.2), seed = 1L)
    val uneven = parts(0).repartition(1).union(parts(1).repartition(2)).cache()
    def fits(rows: DataFrame) = {
      val models = Seq("gang", "driver", "shuffle").map { mode =>
        ours("l-bfgs", 0.05, 0.0).setMaxIter(15).setAggregation(mode).fit(rows)
      }
      models.foreach { model =>
        assert(model.coefficients == models.head.coefficients && model.intercept == models.head.intercept)
      }
      assert(models.map(FitReport.of(_).aggregation) == Seq("gang", "driver", "shuffle"))
      FitReport.of(models.head)
    }
    val (left, moved) = (fits(four), fits(uneven))
    assert(left.toText.contains("where they were read: 4 source partitions"))
    assert(moved.toText.contains("whole blocks moved by a shuffle, because with 2 groups of the source's 3 partitions"))
    assert(moved.nonzerosPerPartition.size == 2 && moved.nonzerosPerPartition.forall(_ > 0L) && moved.numFeatures == 7)
    close(left.objective, moved.objective, 1e-9)
    Seq(four, uneven).foreach(_.unpersist())
  }

  test("more workers than rows: those without rows have no weight") {
    val few = data.limit(5).coalesce(1)
    val model = ours("l-bfgs", 0.5, 0.0).setNumWorkers(8).fit(few)
    close(objective(model), objective(stock(0.5, 0.0).fit(few)), 1e-6)
  }

  /** 5000 features, most of them in few rows. */
  private lazy val wide: DataFrame = {
    val random = new Random(41)
    val truth = Array.fill(5000)(random.nextGaussian())
    val rows = Seq.fill(800) {
      val indices = Seq.fill(20)((5000 * math.pow(random.nextDouble(), 3.0)).toInt).distinct.sorted.toArray
      val score = indices.map(truth(_)).sum + random.nextGaussian()
      val x = Vectors.sparse(5000, indices, indices.map(_ => 1.0 + random.nextInt(2))): Vector
      (if (score > 0.5) 1.0 else 0.0, if (score > 3.0) 2.0 else if (score > 0.0) 1.0 else 0.0, score, x)
    }
    spark.createDataFrame(rows).toDF("class", "classes", "number", "features").repartition(2).cache()
  }

  for ((label, regParam, elasticNet) <- Seq(
      ("class", 0.0, 0.0),
      ("classes", 0.0, 0.0),
      ("classes", 0.01, 0.0),
      ("classes", 0.01, 0.5)))
    test(
      s"auto with many features: no worse than Spark's own code, $label, regParam $regParam, elasticNetParam $elasticNet") {
      // Hundreds of Spark's iterations with an L1 penalty take half a minute.
      val both = CheckLong.everything || elasticNet == 0.0
      for ((maxIter, tol, relative) <- (20, 1e-6, 1e-4) +: (if (both) Seq((300, 1e-10, 1e-6)) else Nil)) {
        val (model, stock) = Both.logistic(wide) { e =>
          e.setLabelCol(label).setRegParam(regParam).setElasticNetParam(elasticNet).setMaxIter(maxIter).setTol(tol)
        }
        val report = FitReport.of(model)
        assert(report.algorithm == "l-bfgs", report.toText)
        // Both stop by the same rule, after about as many iterations; on the way rounding takes them apart.
        val most = objective(stock) * (1.0 + relative) + 1e-8 * report.rounds.head.objective
        assert(report.objective <= most, s"${objective(stock)}\n${report.toText}")
        assert(report.dual.isNaN == (regParam == 0.0))
      }
    }

  test("auto with many features and a grid: a proof for each model, and fewer rounds after the first") {
    val ours = new LogisticRegression().setLabelCol("class").setTol(1e-8).setMaxIter(300)
    val maps =
      for (elasticNet <- Seq(0.0, 0.5); regParam <- Seq(0.1, 0.05, 0.02))
        yield ParamMap(ours.regParam -> regParam, ours.elasticNetParam -> elasticNet)
    val together = ours.fit(wide, maps).map(FitReport.of(_))
    val alone = maps.map(map => FitReport.of(ours.fit(wide, map)))
    (together ++ alone).foreach { report =>
      assert(report.algorithm == "l-bfgs" && report.converged && report.relativeGap <= 1e-8, report.toText)
    }
    together.zip(alone).foreach { case (a, b) => close(a.objective, b.objective, 1e-8) }
    assert(together.map(_.rounds.size).sum < alone.map(_.rounds.size).sum)
  }

  test("auto with many features and no penalty: no worse than Spark's own LinearRegression") {
    val (model, stock) = Both.linear(wide) { e =>
      e.setLabelCol("number").setMaxIter(50)
    }
    assert(FitReport.of(model).algorithm == "l-bfgs", FitReport.of(model).toText)
    assert(model.summary.rootMeanSquaredError <= stock.summary.rootMeanSquaredError * (1.0 + 1e-3))
  }

  test("auto with a dozen features for a row: l-bfgs up to there, coordinate descent beyond") {
    for ((rows, algorithm) <- Seq(417 -> "l-bfgs", 416 -> "cocoa")) {
      val some =
        spark.createDataFrame(wide.select("class", "features").limit(rows).rdd, wide.select("class", "features").schema)
      val model = new LogisticRegression().setLabelCol("class").setRegParam(0.1).setMaxIter(1).setTol(1.0).fit(some)
      assert(FitReport.of(model).algorithm == algorithm, FitReport.of(model).toText)
    }
  }

  test("auto with an L1 penalty: coordinate descent up to a million rows, l-bfgs beyond") {
    for ((rows, algorithm) <- Seq(1000000L -> "cocoa", 1000001L -> "l-bfgs")) {
      val tall = spark
        .range(0L, rows, 1L, 2)
        .select(expr("double(id % 3)").as("label"), expr("transform(array(id % 5000), j -> int(j))").as("at"))
      val vector = udf((at: Seq[Int]) => Vectors.sparse(5000, at.toArray, Array(1.0)): Vector)
      val data = tall.select(tall("label"), vector(tall("at")).as("features"))
      val model = new LinearRegression().setRegParam(0.1).setElasticNetParam(1.0).setMaxIter(1).setTol(1.0).fit(data)
      assert(FitReport.of(model).algorithm == algorithm, FitReport.of(model).toText)
    }
  }
}
