package dwell.ml.parity

import scala.util.Random

import org.apache.spark.ml.classification.{MultilayerPerceptronClassificationModel, MultilayerPerceptronClassifier => SparkMultilayerPerceptronClassifier}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, SparkSuite}
import dwell.ml.classification.MultilayerPerceptronClassifier
import dwell.report.FitReport

/** Networks beside Spark's own: the same iterations from the same weights. */
class NetworkParitySuite extends SparkSuite {

  /** Sums in another order, after the iterations of a short fit; weights are about 1. */
  private val Rounding = 1e-7

  /** Iterations that rounding does not yet lead elsewhere. */
  private val Short = 12

  /** Rows of a partition. As long a stack has all of them, so that Spark's mean over stacks is the mean over rows. */
  private val Stack = 300

  private val Features = 12
  private val Classes = 3

  private def rows(form: Vector => Vector): DataFrame = {
    val random = new Random(5)
    val rows = Seq.fill(2 * Stack) {
      val x = Array.fill(Features)(if (random.nextInt(3) == 0) random.nextGaussian() else 0.0)
      val score = x(0) * x(1) + math.abs(x(2)) + 0.3 * random.nextGaussian()
      (if (score < 0.0) 0.0 else if (score < 0.5) 1.0 else 2.0, form(Vectors.dense(x)))
    }
    val parts = sc.parallelize(rows, 2)
    spark.createDataFrame(parts).toDF("label", "features").cache()
  }

  private def fit(
      estimator: SparkMultilayerPerceptronClassifier,
      data: DataFrame,
      layers: Array[Int]): MultilayerPerceptronClassificationModel =
    estimator.setLayers(layers).setBlockSize(Stack).fit(data)

  private def assertSameWeights(
      ours: MultilayerPerceptronClassificationModel,
      theirs: MultilayerPerceptronClassificationModel,
      what: String): Unit = {
    assert(ours.weights.size == theirs.weights.size)
    val distance = math.sqrt(Vectors.sqdist(ours.weights, theirs.weights)) / Vectors.norm(theirs.weights, 2.0)
    assert(distance < Rounding, s"$what: relative distance $distance of the weights")
  }

  for ((name, form) <- Seq[(String, Vector => Vector)](("dense", _.toDense), ("sparse", _.toSparse)))
    test(s"$name rows, the default seed: Spark's weights, objectives and predictions") {
      val data = rows(form)
      for (layers <- Seq(Array(Features, 7, Classes), Array(Features, 8, 5, Classes), Array(Features, Classes))) {
        val theirs = fit(new SparkMultilayerPerceptronClassifier().setMaxIter(Short), data, layers)
        val ours = fit(new MultilayerPerceptronClassifier().setMaxIter(Short), data, layers)
        assert(FitReport.of(ours).solver == "native")
        assertSameWeights(ours, theirs, layers.mkString("-"))
        val (own, stock) = (ours.summary.objectiveHistory, theirs.summary.objectiveHistory)
        assert(own.length == stock.length)
        own.zip(stock).foreach { case (a, b) => assert(math.abs(a - b) < Rounding, s"$a $b") }
        def predicted(model: MultilayerPerceptronClassificationModel) =
          model.transform(data).select("prediction").collect().map(_.getDouble(0)).toSeq
        assert(predicted(ours) == predicted(theirs))
      }
      data.unpersist()
    }

  test("a seed, and weights to start from") {
    val data = rows(_.toDense)
    val layers = Array(Features, 6, Classes)
    def both(change: SparkMultilayerPerceptronClassifier => SparkMultilayerPerceptronClassifier) = {
      val theirs = fit(change(new SparkMultilayerPerceptronClassifier()), data, layers)
      val ours = fit(change(new MultilayerPerceptronClassifier()), data, layers)
      assertSameWeights(ours, theirs, "")
      ours.weights
    }
    val seeded = both(_.setSeed(42L).setMaxIter(Short))
    assert(seeded != both(_.setSeed(43L).setMaxIter(Short)))
    val start = Vectors.dense(Array.tabulate(seeded.size)(i => 0.3 * math.sin(i.toDouble)))
    assert(both(_.setInitialWeights(start).setMaxIter(0)) == start)
    both(_.setInitialWeights(start).setMaxIter(Short))
    data.unpersist()
  }

  test("where stacks are not as long, the mean over rows is minimised, wherever they are") {
    val data = rows(_.toDense)
    val layers = Array(Features, 4, Classes)
    val whole = fit(new MultilayerPerceptronClassifier().setMaxIter(Short), data, layers)
    val cut = fit(new MultilayerPerceptronClassifier().setMaxIter(Short), data.repartition(7), layers)
    assertSameWeights(cut, whole, "7 partitions")
  }

  CheckLong.only(2) {
    test("scikit-learn's digits, default Params: as good as Spark's") {
      val Seq(train, heldOut) = Digits.of(spark)
      def fit(estimator: SparkMultilayerPerceptronClassifier) = {
        val model = estimator.setLayers(Array(64, 30, 10)).setBlockSize(1000).setSeed(1L).fit(train)
        (model.summary.objectiveHistory.last, model.transform(heldOut).filter("prediction != label").count())
      }
      val (theirs, mistaken) = fit(new SparkMultilayerPerceptronClassifier())
      val (ours, mistakes) = fit(new MultilayerPerceptronClassifier())
      assert(math.abs(ours - theirs) < 0.01 && math.abs(mistakes - mistaken) < 12, s"$ours $theirs $mistakes $mistaken")
    }

    test("scikit-learn's digits: ma-sgd is no worse than L-BFGS with more passes over the rows") {
      val Seq(train, heldOut) = Digits.of(spark)
      def mistakes(change: MultilayerPerceptronClassifier => MultilayerPerceptronClassifier): Long = {
        val estimator = new MultilayerPerceptronClassifier().setLayers(Array(64, 30, 10)).setBlockSize(16).setSeed(1L)
        change(estimator.setNumWorkers(2)).fit(train).transform(heldOut).filter("prediction != label").count()
      }
      // The search for the first step takes nine candidates over half of the rows, and measures at the other half.
      val (averaged, searched) = (mistakes(_.setAlgorithm("ma-sgd").setMaxIter(20)), mistakes(_.setMaxIter(30)))
      assert(averaged <= searched + 6, s"mistakes of ma-sgd $averaged, of L-BFGS $searched")
    }
  }
}
