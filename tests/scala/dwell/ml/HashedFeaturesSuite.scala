package dwell.ml

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.spark.ml.classification.{LogisticRegressionModel, LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.linalg.{Matrices, Vector, Vectors}
import org.apache.spark.ml.regression.{LinearRegressionModel, LinearRegression => SparkLinearRegression}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.data.{TestData, TrainingReader}
import dwell.data.block.{ColumnNames, LabeledRow}
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.report.{FitReport, LinearFitReport}
import dwell.spark.{InputChangedException, TaskFailure}

/** Vectors of hashes, of which most features never occur: the models of the same rows with the features that do. */
class HashedFeaturesSuite extends SparkSuite {
  private val Length = 1 << 15

  /** The features that occur. */
  private val places: Array[Int] = new Random(1).shuffle((0 until Length).toVector).take(60).sorted.toArray

  /** Rows in the features that occur, and the same rows in all. */
  private lazy val (few, hashed) = {
    val random = new Random(2)
    val rows = Seq.fill(500) {
      val entries = random.shuffle(places.indices.toVector).take(7).map(j => j -> (1.0 + random.nextInt(3)))
      val score = entries.map { case (j, x) => x * math.sin(j.toDouble) }.sum + 0.5 * random.nextGaussian()
      (score, entries)
    }
    def frame(length: Int, place: Int => Int) = spark
      .createDataFrame(rows.map { case (score, entries) =>
        val x: Vector = Vectors.sparse(length, entries.map { case (j, value) => (place(j), value) })
        (if (score > 0.2) 1.0 else 0.0, if (score > 1.0) 2.0 else if (score > -1.0) 1.0 else 0.0, score + 3.0, x)
      })
      .toDF("class", "kind", "number", "features")
      .repartition(3)
      .cache()
    (frame(places.length, identity), frame(Length, places(_)))
  }

  private def told(model: org.apache.spark.ml.Model[_]): LinearFitReport =
    FitReport.of(model).asInstanceOf[LinearFitReport]

  /** Whether the wide model is the narrow one, with 0 elsewhere. */
  private def assertSpread(wide: Vector, narrow: Vector, tolerance: Double, clue: String): Unit = {
    assert(wide.size == Length && narrow.size == places.length, clue)
    val scale = narrow.toArray.map(math.abs).max
    for (j <- places.indices) assert(math.abs(wide(places(j)) - narrow(j)) <= tolerance * scale, s"$clue, $j")
    assert(wide.numNonzeros == places.count(wide(_) != 0.0), clue)
  }

  private val logistic = for {
    algorithm <- Seq("auto", "l-bfgs", "cocoa", "ma-sgd")
    elasticNet <- Seq(0.0, 0.5)
    orientation <- if (algorithm == "cocoa") Seq("primal", "dual") else Seq("auto")
    standardization <- Seq(true, false)
  } yield (algorithm, elasticNet, orientation, standardization)

  CheckLong.pairsOf(logistic).foreach { case (algorithm, elasticNet, orientation, standardization) =>
    test(s"LogisticRegression, $algorithm $orientation, elastic net $elasticNet, standardization $standardization") {
      def fit(data: DataFrame) =
        new LogisticRegression()
          .setAlgorithm(algorithm)
          .setOrientation(orientation)
          .setNumWorkers(2)
          .setLabelCol("class")
          .setRegParam(0.02)
          .setElasticNetParam(elasticNet)
          .setStandardization(standardization)
          .setTol(1e-10)
          .setMaxIter(200)
          .fit(data)
      val (wide, narrow) = (fit(hashed), fit(few))
      // Local descent ends where its steps are short enough, and near the optimum.
      assertSpread(wide.coefficients, narrow.coefficients, if (algorithm == "ma-sgd") 0.02 else 1e-4, algorithm)
      val (ours, theirs) = (told(wide), told(narrow))
      assert(ours.numFeatures == Length && ours.algorithm == theirs.algorithm, ours.toText)
      assert(ours.placement.contains(s"60 of $Length features occur"), ours.placement)
      val near = if (algorithm == "ma-sgd") 1e-4 else 1e-7
      assert(math.abs(ours.objective - theirs.objective) <= near * theirs.objective)
      if (algorithm != "ma-sgd") assert(ours.converged, ours.toText)
      assert(wide.transform(hashed).filter("prediction != class").count() < 150)
    }
  }

  test("auto: Newton's method with a proof, no worse than Spark's model") {
    for (regParam <- Seq(0.001, 0.02)) {
      val stock = new SparkLogisticRegression().setLabelCol("class").setRegParam(regParam).fit(hashed.coalesce(1))
      val ours = told(new LogisticRegression().setLabelCol("class").setRegParam(regParam).fit(hashed))
      assert(ours.algorithm == "newton" && ours.converged, ours.toText)
      assert(ours.objective <= stock.summary.objectiveHistory.last * (1.0 + 1e-9))
    }
    // Spark takes its iterations for so many features, and their objective.
    val stock =
      new SparkLinearRegression().setLabelCol("number").setRegParam(0.01).setElasticNetParam(0.3).setTol(1e-12)
    val ours =
      new LinearRegression().setLabelCol("number").setRegParam(0.01).setElasticNetParam(0.3).setTol(1e-12).fit(hashed)
    val expected: LinearRegressionModel = stock.setMaxIter(500).fit(hashed.coalesce(1))
    assert(told(ours).algorithm == "newton" && told(ours).converged)
    val distance = math.sqrt(Vectors.sqdist(ours.coefficients, expected.coefficients))
    assert(distance <= 1e-5 * Vectors.norm(expected.coefficients, 2.0), s"$distance")
    assert(math.abs(ours.intercept - expected.intercept) <= 1e-5 && ours.hasSummary)
  }

  test("LinearSVC and several classes") {
    def hinge(data: DataFrame) = new LinearSVC().setLabelCol("class").setRegParam(0.05).setTol(1e-8).fit(data)
    assertSpread(hinge(hashed).coefficients, hinge(few).coefficients, 1e-3, "hinge")
    def softmax(data: DataFrame) =
      new LogisticRegression().setLabelCol("kind").setRegParam(0.02).setTol(1e-10).fit(data)
    val (wide, narrow) = (softmax(hashed), softmax(few))
    for (c <- 0 until 3) {
      def row(m: LogisticRegressionModel) = m.coefficientMatrix.rowIter.toSeq(c)
      assertSpread(row(wide), row(narrow), 1e-5, s"class $c")
    }
    assert(Vectors.sqdist(wide.interceptVector, narrow.interceptVector) < 1e-8)
  }

  test("bounds and an initial model are those of the features, and features that do not occur have 0") {
    def bounded(data: DataFrame, size: Int, place: Int => Int) = {
      val (least, most) = (Array.fill(size)(-1.0), Array.fill(size)(1.0))
      places.indices.foreach(j => least(place(j)) = if (j % 3 == 0) 0.0 else -0.2)
      places.indices.foreach(j => most(place(j)) = if (j % 2 == 0) 0.1 else 0.3)
      new LogisticRegression()
        .setLabelCol("class")
        .setTol(1e-10)
        .setLowerBoundsOnCoefficients(Matrices.dense(1, size, least))
        .setUpperBoundsOnCoefficients(Matrices.dense(1, size, most))
        .fit(data)
    }
    val wide = bounded(hashed, Length, places(_))
    assertSpread(wide.coefficients, bounded(few, places.length, identity).coefficients, 1e-6, "bounds")
    assert(places.exists(j => math.abs(wide.coefficients(j)) > 0.05))
    def onwards(data: DataFrame) = {
      val first = new LogisticRegression().setLabelCol("class").setRegParam(0.02).setTol(1e-10).fit(data)
      val more = new LogisticRegression().setLabelCol("class").setRegParam(0.02).setInitialModel(first)
      told(more.setAlgorithm("l-bfgs").setMaxIter(1).fit(data)).rounds.head.objective
    }
    assert(math.abs(onwards(hashed) - onwards(few)) < 1e-12)
  }

  test("the loss of everything cached gives the same rows, and changed rows are an error") {
    HashedFeaturesSuite.version.set(0)
    val source = sc.parallelize(0 until 40, 4).map { i =>
      val value = 1.0 + i + HashedFeaturesSuite.version.get
      LabeledRow(
        (i % 2).toDouble,
        1.0,
        Vectors.sparse(32768, Seq((i % 5 * 1000, value), (20000 + i % 3, 2.0)))).toInternal
    }
    val training = TrainingReader.read(source, Length, "hashed")
    try {
      assert(training.numFeatures == 8 && training.vectorLength == Length)
      def content = training
        .blocks(2, even = false)
        .partitions
        .flatMap(_.blocks().map(b =>
          (b.offsets.toSeq, b.features.toSeq, Option(b.values32).map(_.toSeq), b.labels.toSeq)))
        .collect()
        .toSeq
      val before = content
      assert(before.flatMap(_._2).toSet == (0 until 8).toSet)
      TestData.loseCached(sc)
      assert(content == before)
      HashedFeaturesSuite.version.set(1)
      TestData.loseCached(sc)
      intercept[InputChangedException](TaskFailure.unwrapped(content))
    } finally training.unpersist()
    assert(sc.getPersistentRDDs.values.forall(rdd => !Option(rdd.name).exists(_.contains("hashed"))))
  }

  test("messages name features by their index in the vectors") {
    val huge = (0 until 40).map(i =>
      LabeledRow((i % 2).toDouble, 1.0, Vectors.sparse(Length, Seq((7, 1.0 + i), (20001, (1 - i % 3) * 1e200 + 1.0)))))
    val training = TrainingReader.read(sc.parallelize(huge, 2).map(_.toInternal), Length, "huge", ColumnNames("terms"))
    try
      for (body <- Seq(() => training.features(1.0, intercept = true), () => training.columns(2).partitions.count())) {
        val e = intercept[IllegalArgumentException](TaskFailure.unwrapped(body()))
        assert(e.getMessage.startsWith("Column 'terms', index 20001: the values are so large"), e.getMessage)
      }
    finally training.unpersist()
  }
}

private object HashedFeaturesSuite {

  /** The tasks of local mode share this counter. */
  private val version = new AtomicInteger()
}
