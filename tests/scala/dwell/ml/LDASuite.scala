package dwell.ml

import java.nio.file.Files

import org.apache.spark.ml.clustering.{LDAModel, LocalLDAModel}
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.DataFrame

import dwell.SparkSuite
import dwell.base.SplitMix
import dwell.fit.DwellConf
import dwell.ml.clustering.LDA
import dwell.report.{FitReport, TopicFitReport}
import dwell.solver.lda.worker.LdaSchedule

/** The estimator of topics through Spark ML's interface. */
class LDASuite extends SparkSuite {

  private val Topics = 4
  private val Vocabulary = 80

  /** Least cosine between a topic found and the planted topic. */
  private val Recovered = 0.9

  /** Mean of the numbers with which learning begins. */
  private val InitialTopicsMass = 1.0

  /** Rounding of `f32`, and of the first numbers' mean. */
  private val Single = 1e-4

  /** Documents with a few words of one topic and some of another; each topic has its own part of the vocabulary. */
  private lazy val corpus: DataFrame = {
    val random = new SplitMix(7L)
    val own = Vocabulary / Topics
    val vectors = (0 until 2000).map { _ =>
      val (first, second) = (random.below(Topics), random.below(Topics))
      val counts = new Array[Double](Vocabulary)
      (0 until 40).foreach { i =>
        val topic = if (i % 4 == 0) second else first
        // Words with higher numbers are rarer.
        counts(topic * own + math.min(random.below(own), random.below(own))) += 1.0
      }
      Tuple1(Vectors.dense(counts).toSparse: Vector)
    }
    spark.createDataFrame(vectors).toDF("features").repartition(3).cache()
  }

  private def estimator: LDA = {
    val lda = new LDA().setLocalBatch(50).setNumWorkers(2)
    lda.setK(Topics).setMaxIter(20).setSubsamplingRate(0.25).setLearningOffset(10.0).setLearningDecay(0.7).setSeed(5L)
    lda
  }

  /** Sum of lambda after all steps: documents have 40 words each, whatever the topics are. */
  private def expectedMass(tau0: Double): Double = {
    // An iteration has fewer than 1000 documents.
    val schedule = LdaSchedule(tau0, 0.7, base = 500.0)
    // Steps of 50 documents on each of two workers.
    val kept = (0 until 10000 by 100).map(g => 1.0 - schedule.step(g.toDouble, 50.0, 2.0)).product
    val first = InitialTopicsMass * Topics * Vocabulary
    kept * first + (1.0 - kept) * 2000 * 40 + 0.25 * Topics * Vocabulary
  }

  /** Whether each planted topic is one of those found. */
  private def finds(model: LDAModel): Boolean = {
    val found = model.topicsMatrix
    val own = Vocabulary / Topics
    val planted = (0 until own).map(w => 2.0 * (own - w) - 1.0)
    (0 until Topics).forall { t =>
      (0 until Topics).exists { k =>
        val topic = (0 until Vocabulary).map(found(_, k))
        val product = planted.indices.map(w => planted(w) * topic(t * own + w)).sum
        product / math.sqrt(topic.map(x => x * x).sum * planted.map(x => x * x).sum) > Recovered
      }
    }
  }

  test("planted topics are found, in a model of Spark's own") {
    val lda = estimator
    val model = lda.fit(corpus)
    assert(model.getClass == classOf[LocalLDAModel] && model.vocabSize == Vocabulary && model.parent == lda)
    assert(finds(model))
    val report = FitReport.of(model)
    assert(report.solver == "native" && report.numRows == 2000L && report.numFeatures == Vocabulary)
    assert(report.rounds.size >= 20 && report.objective < report.rounds(1).objective)
    assert(report.isInstanceOf[TopicFitReport] && !report.toText.contains("orientation"))
    assert(report.orientation.isEmpty && report.reason.isEmpty && report.tolerance == 0.0 && report.converged)
    val phases = report.phases
    assert(Seq(phases.reading, phases.setUp, phases.workers, phases.model, phases.rest).forall(_ > 0.0))
    assert(math.abs(phases.rounds - report.rounds.map(_.seconds).sum) < 1e-9 && phases.total == report.totalSeconds)
    assert(report.toText.startsWith(phases.toLine))
    assert(report.gap.isNaN && report.dual.isNaN && report.relativeGap.isNaN)
    assert(math.abs(model.topicsMatrix.toArray.sum / expectedMass(10.0) - 1.0) < Single, expectedMass(10.0))
    assert(model.transform(corpus).select("topicDistribution").head().getAs[Vector](0).size == Topics)
  }

  test("an offset that is not set is not that of Spark, and goes by the number of workers") {
    def mass(lda: LDA): Double = {
      lda.clear(lda.learningOffset)
      lda.fit(corpus).topicsMatrix.toArray.sum
    }
    val two = mass(estimator)
    assert(math.abs(two / expectedMass(64.0) - 1.0) < Single, two)
    // Batches of 50 on two workers make the same steps as batches of 100 on one.
    val one = mass(estimator.setNumWorkers(1).setLocalBatch(100))
    assert(math.abs(one / expectedMass(10.0) - 1.0) < Single, one)
    assert(math.abs(expectedMass(64.0) / expectedMass(10.0) - 1.0) > 100 * Single)
  }

  test("with the means of topics in their place, planted topics are found as well") {
    val model = estimator.setTopicEstimate("mean").fit(corpus)
    assert(finds(model) && model.topicsMatrix != estimator.fit(corpus).topicsMatrix)
    val e = intercept[IllegalArgumentException](estimator.setTopicEstimate("median"))
    assert(e.getMessage == "topicEstimate must be one of variational, mean, but was 'median'.")
  }

  test("the report tells documents, words and bytes of each round") {
    val report = FitReport.of(estimator.setMaxIter(3).fit(corpus))
    val rounds = report.rounds.tail
    assert(rounds.map(_.note.takeWhile(_ != ',')) == Seq(500, 1000, 1500).map(seen => s"$seen documents seen"))
    assert(rounds.forall(_.note.contains(s"a worker sends $Vocabulary of $Vocabulary words")))
    // Each of the two workers holds the topics, and memory of the same size.
    assert(rounds.forall(_.stateBytes == 2 * 2 * 4L * Topics * Vocabulary))
  }

  test("all ways that updates travel in give the same bits, and so does a second fit") {
    def topics(aggregation: String): (Seq[Double], Seq[Double]) = {
      val model = estimator.setAggregation(aggregation).setMaxIter(4).asInstanceOf[LDA].fit(corpus)
      assert(FitReport.of(model).aggregation == aggregation)
      (model.topicsMatrix.toArray.toSeq, model.estimatedDocConcentration.toArray.toSeq)
    }
    val driver = topics("driver")
    assert(topics("driver") == driver && topics("shuffle") == driver && topics("gang") == driver)
    assert(driver._2.exists(_ != 0.25), "alpha was not learned")
  }

  test("alpha stays what it is where it is not to be learned") {
    val model = estimator.setOptimizeDocConcentration(false).setDocConcentration(0.3).setMaxIter(1).fit(corpus)
    assert(model.estimatedDocConcentration == Vectors.dense(0.3, 0.3, 0.3, 0.3))
  }

  test("the optimizer em, and priors that solvers do not take, are left to Spark") {
    Seq(estimator.setOptimizer("em").setMaxIter(2), estimator.setDocConcentration(0.0).setMaxIter(1)).foreach { lda =>
      val report = FitReport.of(lda.fit(corpus.limit(50)))
      assert(report.solver == "spark" && report.reason.nonEmpty && report.phases.spark > 0.0)
    }
    val e = withConf(DwellConf.Fallback, "error")(
      intercept[UnsupportedOperationException](estimator.setOptimizer("em").fit(corpus)))
    assert(e.getMessage.contains("em"))
  }

  test("an estimator is saved and loaded with all its Params") {
    val path = Files.createTempDirectory("lda").resolve("estimator").toString
    estimator.setAggregation("driver").save(path)
    val loaded = LDA.load(path)
    assert(
      (loaded.getLocalBatch, loaded.getNumWorkers, loaded.getAggregation, loaded.getK) == ((50, 2, "driver", Topics)))
  }
}
