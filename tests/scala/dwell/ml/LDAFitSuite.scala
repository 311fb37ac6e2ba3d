package dwell.ml

import org.apache.commons.math3.distribution.GammaDistribution
import org.apache.commons.math3.random.Well19937c
import org.apache.commons.math3.special.Gamma
import org.apache.spark.ml.clustering.LDAModel
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.ml.clustering.LDA
import dwell.report.FitReport

/** The Params and data that determine the topics of a fit, and Spark's measures of these topics. */
class LDAFitSuite extends SparkSuite {

  private val Topics = 3
  private val Own = 12
  private val Vocabulary = Topics * Own

  /** Rounding of `f32`, over the largest lambda. */
  private val Single = 1e-5

  /** Relative error of a bound by token: Spark stops inferring the topics of a document when they change by less than
   * 1e-3 on average. */
  private val Inferred = 1e-3

  /** Relative error of alpha: a few hundred documents determine it no better, and variational inference is biased. */
  private val Learned = 0.35

  /** The alpha of the planted documents; each topic has words of its own. */
  private val PlantedAlpha = Array(0.2, 0.5, 1.5)

  private def documents(count: Int, seed: Int): Seq[Vector] = {
    val random = new Well19937c(seed)
    val shares = PlantedAlpha.map(new GammaDistribution(random, _, 1.0))
    (0 until count).map { _ =>
      val theta = shares.map(_.sample())
      val counts = new Array[Double](Vocabulary)
      (0 until 60).foreach { _ =>
        val at = random.nextDouble() * theta.sum
        val topic = theta.scanLeft(0.0)(_ + _).tail.indexWhere(at < _)
        counts(math.max(topic, 0) * Own + random.nextInt(Own)) += 1.0
      }
      Vectors.dense(counts)
    }
  }

  private def frame(vectors: Seq[Vector]): DataFrame =
    spark.createDataFrame(vectors.map(Tuple1(_))).toDF("features").coalesce(1)

  private def estimator: LDA = {
    val lda = new LDA().setNumWorkers(2).setLocalBatch(20)
    lda.setK(Topics).setMaxIter(5).setSubsamplingRate(0.5).setLearningOffset(4.0).setLearningDecay(0.6).setSeed(3L)
    lda
  }

  private def topics(model: LDAModel): Seq[Double] = model.topicsMatrix.toArray.toSeq

  test("the seed decides the topics, and the name of the estimator does not") {
    val data = frame(documents(120, seed = 1))
    val first = topics(estimator.fit(data))
    assert(topics(estimator.fit(data)) == first)
    val other = estimator
    other.setSeed(4L)
    assert(topics(other.fit(data)) != first)
  }

  test("a step of several workers is that of one on all of their documents, whatever stands for a topic") {
    val data = frame(documents(120, seed = 2))
    def stepped(workers: Int, estimate: String, mode: String): Seq[Double] = {
      // One round with one step: no worker has more documents than a batch.
      val lda = estimator.setNumWorkers(workers).setLocalBatch(1000).setTopicEstimate(estimate).setAggregation(mode)
      lda.setMaxIter(1).setSubsamplingRate(1.0)
      val model = lda.fit(data)
      val report = FitReport.of(model)
      assert(report.rounds.size == 2 && report.numPartitions == workers && report.aggregation == mode)
      topics(model) ++ model.estimatedDocConcentration.toArray
    }
    def apart(some: Seq[Double], others: Seq[Double]) =
      some.zip(others).map { case (a, b) => math.abs(a - b) }.max / others.max
    val Seq(variational, mean) = Seq("variational", "mean").map { estimate =>
      val alone = stepped(1, estimate, "driver")
      for (mode <- Seq("driver", "shuffle", "gang"); workers <- Seq(2, 3, 4) if mode != "gang" || workers == 2) {
        val difference = apart(stepped(workers, estimate, mode), alone)
        assert(difference <= Single, s"$difference with $workers workers, $estimate, $mode")
      }
      alone
    }
    assert(apart(variational, mean) > 100 * Single)
  }

  test("workers without documents do not count in the average") {
    val data = frame(documents(3, seed = 6))
    def found(workers: Int): Seq[Double] = {
      val lda = estimator.setNumWorkers(workers).setAggregation("driver")
      lda.setSubsamplingRate(1.0)
      topics(lda.fit(data))
    }
    val expected = found(3)
    assert(expected.min >= 1.0 / Topics, "less than the prior")
    found(7).zip(expected).foreach { case (a, b) =>
      assert(math.abs(a - b) <= Single * expected.max, s"$a, expected $b")
    }
  }

  test("several Param maps are several fits") {
    val data = frame(documents(120, seed = 3))
    val lda = estimator
    val maps = Seq(ParamMap(lda.k -> 2), ParamMap(lda.maxIter -> 2, lda.seed -> 9L), ParamMap.empty)
    val models = lda.fit(data, maps)
    assert(models.map(_.topicsMatrix.numCols) == Seq(2, Topics, Topics))
    models.zip(maps).foreach { case (model, map) =>
      assert(topics(model) == topics(lda.copy(map).fit(data)) && model.getSeed == map.get(lda.seed).getOrElse(3L))
    }
  }

  test("alpha is learned from documents that have one") {
    val lda = estimator
    lda.setMaxIter(200).setLearningDecay(0.51).setOptimizeDocConcentration(true)
    val model = lda.fit(frame(documents(800, seed = 4)))
    // The planted topic is the one whose own words have the most weight.
    val found = model.topicsMatrix
    val planted =
      (0 until Topics).map(k => (0 until Topics).maxBy(t => (0 until Own).map(i => found(t * Own + i, k)).sum))
    assert(planted.sorted == (0 until Topics), "topics were not found")
    planted.zip(model.estimatedDocConcentration.toArray).foreach { case (t, alpha) =>
      assert(
        math.abs(alpha / PlantedAlpha(t) - 1.0) < Learned,
        s"${model.estimatedDocConcentration} of topics $planted")
    }
  }

  test("the objective is Spark's own bound of the same model, without the part of the topics") {
    val data = frame(documents(15, seed = 5))
    for (learned <- Seq(false, true)) {
      val lda = estimator
      lda.setOptimizeDocConcentration(learned).setTopicConcentration(0.2)
      val model = lda.fit(data)
      val tokens = 15 * 60
      val expected = -(model.logLikelihood(data) - ofTopics(model, 0.2)) / tokens
      val objective = FitReport.of(model).objective
      assert(math.abs(objective - expected) < Inferred * expected, s"$objective, expected $expected")
      // Spark defines the perplexity.
      assert(math.abs(model.logPerplexity(data) * tokens / -model.logLikelihood(data) - 1.0) < 1e-9)
    }
  }

  /** The part of the bound that depends on topics alone: minus their divergence from the prior. */
  private def ofTopics(model: LDAModel, eta: Double): Double = {
    val lambda = model.topicsMatrix
    (0 until Topics).map { k =>
      val column = (0 until Vocabulary).map(lambda(_, k))
      val whole = Gamma.digamma(column.sum)
      Gamma.logGamma(eta * Vocabulary) - Gamma.logGamma(column.sum) +
        column.map(x => (eta - x) * (Gamma.digamma(x) - whole) + Gamma.logGamma(x) - Gamma.logGamma(eta)).sum
    }.sum
  }
}
