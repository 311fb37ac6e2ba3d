package dwell.ml.clustering

import java.util.Locale

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.clustering.{LDA => SparkLDA, LDABridge, LDAModel}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.sql.Dataset

import dwell.data.documents.{DocumentDataset, NoWordsException}
import dwell.fit.{ChangedInput, DwellConf}
import dwell.jni.LdaLayout
import dwell.ml.param.LdaParams
import dwell.ml.training.{FitClock, FitEvents, FitLog, LeavingToSpark}
import dwell.record.{FitFacts, FitPhases}
import dwell.report.TopicFitReport
import dwell.solver.lda.LdaTrainer
import dwell.solver.lda.worker.{Inference, LdaPriors, LdaProblem, LdaSchedule}
import dwell.spark.NativeLibrary

/**
 * Spark's `LDA`, trained by model averaging with native local solvers: stochastic variational inference (Hoffman, Blei,
 * Bach, NIPS 2010) on each worker's documents, and averages of the workers' topics (Guo et al., VLDB Journal 30, 2021).
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `LocalLDAModel`. As in Spark, there are
 * `maxIter` iterations, and each visits a share `subsamplingRate` of the documents. An iteration so long that the
 * workers' topics would drift apart is cut into several rounds. After g documents of all workers, the step size for the
 * next `base` documents is `(learningOffset + 1 + g / base)^-learningDecay`. `base` is 1000, or the number of documents
 * in an iteration if that is smaller; steps are then as long as in Spark. The defaults of `learningOffset` and
 * `learningDecay` are 64 and 0.51, and 10 and 0.7 with one worker: with Spark's 1024 a fit forgets its random initial
 * topics only after 30,000 documents and more. (`getLearningOffset` still returns Spark's default.)
 *
 * Documents without words are left out. The objective of [[dwell.report.FitReport]] is minus the variational bound on
 * the logarithm of the likelihood of a sample of the documents, by token, without the topics' own part. The objective
 * of a round is taken at the topics that the round began with. There is no bound on how much better topics could be.
 *
 * Spark's own code, the superclass, trains the following after one WARN that names the reason, or `fit` throws if
 * `spark.dwell.fallback` is `error`: `optimizer` em, priors outside 1e-6 to 1e6, documents of which none has a word, and executors or a
 * driver that cannot load the native library.
 */
class LDA(override val uid: String) extends SparkLDA(uid) with LdaParams with LeavingToSpark {
  import LDA._

  def this() = this(Identifiable.randomUID("lda"))

  // As in Spark, the estimator itself defines the setters, so that in Java they return the estimator and can be
  // chained.
  def setLocalBatch(value: Int): this.type = set(localBatch, value)
  def setTopicEstimate(value: String): this.type = set(topicEstimate, value)
  def setAggregation(value: String): this.type = set(aggregation, value)
  def setNumWorkers(value: Int): this.type = set(numWorkers, value)

  override def fit(dataset: Dataset[_]): LDAModel =
    FitEvents.during(dataset.sparkSession.sparkContext, uid, 0.0, $(maxIter))(fitted(dataset))

  private def fitted(dataset: Dataset[_]): LDAModel = {
    val clock = new FitClock
    transformSchema(dataset.schema)
    val conf = DwellConf(dataset.sparkSession)
    unsupported
      .orElse(NativeLibrary.missing)
      .toLeft(())
      .flatMap(_ => NativeLibrary.orMissing(natively(dataset, conf, clock))) match {
      case Left(reason) =>
        leaveToSpark(conf, reason, missing = None)(clock.bySpark(super.fit(dataset))) { model =>
          val phases = FitPhases.of(clock.seconds, spark = clock.sparkSeconds)
          FitFacts(numFeatures = model.vocabSize, phases = phases)
        }
      case Right(model) => model
    }
  }

  private def natively(dataset: Dataset[_], conf: DwellConf, clock: FitClock): Either[String, LDAModel] =
    try Right(trained(dataset, conf, clock))
    catch { case e: NoWordsException => Left(e.getMessage) }

  private def trained(dataset: Dataset[_], conf: DwellConf, clock: FitClock): LDAModel = {
    def documents = LDABridge.documents(dataset, $(featuresCol))
    val vocabulary = clock.reading(TrainingBridge.numFeatures(dataset, $(featuresCol), documents, ordinal = 0))
    checkSize(vocabulary, conf)
    ChangedInput.outlived(uid) {
      val data = clock.reading(DocumentDataset.read(documents, vocabulary, $(numWorkers), uid, $(featuresCol)))
      try {
        val solution = LdaTrainer.run(data, problem(conf, data.workers))
        val model = clock.building {
          copyValues(LDABridge.model(uid, solution.lambda, solution.alpha, eta, $(seed), dataset.sparkSession))
            .setParent(this)
        }
        val facts = solution.facts
        val phases = FitPhases.of(
          clock.seconds,
          clock.readSeconds - facts.setUpSeconds,
          facts.setUpSeconds,
          facts.rounds,
          clock.modelSeconds)
        FitLog.reported(this, model, TopicFitReport(uid, facts.copy(request = FitLog.requested(this), phases = phases)))
      } finally data.unpersist()
    }
  }

  override def copy(extra: ParamMap): LDA = defaultCopy(extra)

  private def unsupported: Option[String] =
    if ($(optimizer).toLowerCase(Locale.ROOT) != Online) Some(s"optimizer=${$(optimizer)} is not solved natively")
    else {
      (alpha :+ eta).find(!LdaPriors.inRange(_)).map { prior =>
        s"a concentration is $prior, and native solvers take ${LdaPriors.Least} to ${LdaPriors.Greatest}"
      }
    }

  /**
   * Checks, before the data is read, that one array can hold all topics, and that the driver may get them at the end and
   * has memory for them.
   *
   * @throws IllegalArgumentException
   *   otherwise
   */
  private def checkSize(vocabulary: Int, conf: DwellConf): Unit = {
    val (bytes, limit) = LDA.limit(vocabulary, $(k), conf.maxResultBytes, Runtime.getRuntime.maxMemory)
    limit.foreach { what =>
      throw new IllegalArgumentException(
        s"k = ${$(k)} topics of the $vocabulary words of column '${$(featuresCol)}' take $bytes bytes, more than $what. Lower k, or " +
          "count fewer words, for example with a lower vocabSize of CountVectorizer.")
    }
  }

  /** By Spark's rules: one number applies to every topic, and -1, or no value, stands for the default. */
  private def alpha: Array[Double] = get(docConcentration) match {
    case Some(Array(one)) if one != Default => Array.fill($(k))(one)
    case Some(several) if several.length > 1 => several
    case _ => Array.fill($(k))(1.0 / $(k))
  }

  private def eta: Double = get(topicConcentration).filter(_ != Default).getOrElse(1.0 / $(k))

  private def schedule(workers: Int): LdaSchedule = {
    val chosen = LdaSchedule.chosen(workers)
    LdaSchedule(get(learningOffset).getOrElse(chosen.tau0), get(learningDecay).getOrElse(chosen.kappa))
  }

  private def problem(conf: DwellConf, workers: Int): LdaProblem =
    LdaProblem(
      uid,
      LdaPriors(alpha, eta),
      schedule(workers),
      $(subsamplingRate),
      $(maxIter),
      Some($(localBatch)).filter(_ > 0),
      $(optimizeDocConcentration),
      chosenAggregation,
      $(seed),
      conf.solverSettings,
      Inference(mean = $(topicEstimate) == LdaParams.Mean))
}

object LDA extends DefaultParamsReadable[LDA] {

  private val Online = "online"

  /**
   * The bytes of all topics in single precision, and the limit that they exceed.
   *
   * @param heap
   *   the most bytes that the driver's heap can take
   */
  private[ml] def limit(vocabulary: Int, k: Int, maxResultBytes: Long, heap: Long): (Long, Option[String]) = {
    val bytes = 4L * vocabulary * k
    val limit =
      if (vocabulary.toLong * k > LdaLayout.maxEntries(k)) Some("an array holds")
      else if (bytes > maxResultBytes) Some(s"spark.driver.maxResultSize ($maxResultBytes) lets through to the driver")
      // As numbers of four bytes, and in Spark's model as numbers of eight.
      else if (3L * bytes > heap) Some(s"a third of the driver's heap ($heap), which spark.driver.memory sets")
      else None
    (bytes, limit)
  }

  /** Spark's mark for a concentration that the estimator chooses. */
  private val Default = -1.0

  override def load(path: String): LDA = super.load(path)
}
