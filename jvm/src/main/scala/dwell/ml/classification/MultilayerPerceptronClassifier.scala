package dwell.ml.classification

import org.apache.spark.ml.TrainingBridge
import org.apache.spark.ml.classification.{MultilayerPerceptronBridge, MultilayerPerceptronClassificationModel, MultilayerPerceptronClassifier => SparkMultilayerPerceptronClassifier}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.sql.Dataset

import dwell.data.TrainingReader
import dwell.data.block.ColumnNames
import dwell.fit.{ChangedInput, DwellConf}
import dwell.jni.{NetworkLayout, ResultHeader}
import dwell.ml.param.{AlgorithmParams, ParamValues}
import dwell.ml.training.{FitClock, FitEvents, FitLog, LeavingToSpark}
import dwell.problem.Algorithm
import dwell.record.{FitFacts, FitPhases}
import dwell.report.NetworkFitReport
import dwell.solver.NetworkTrainer
import dwell.solver.network.{NetworkProblem, NetworkSolution}
import dwell.spark.NativeLibrary

/**
 * Spark's `MultilayerPerceptronClassifier`, trained by L-BFGS with native gradients, or by model averaging. The iterations of L-BFGS are those
 * of Spark's own, from the same weights.
 *
 * With `algorithm` ma-sgd each worker makes steps by the gradients of mini-batches of `blockSize` of its rows, and after `localWork` passes over
 * them the weights of the workers are averaged, in `maxIter` rounds at most. `stepSize`, if it is set, is the first step size; otherwise it is
 * searched for. Rounds end where steps have become so short that they change nothing, by `tol`.
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `MultilayerPerceptronClassificationModel` with its training
 * summary. The objective is the mean over the rows of minus the logarithm of the probability of a row's class. (Spark takes the mean of each
 * stack of rows, and then the mean of the stacks, so that rows of a shorter stack at the end of a partition weigh more. Where all stacks are
 * as long it is the same.) A network has no certificate: [[dwell.report.FitReport]] says so.
 *
 * Spark's own code, the superclass, trains with `solver` gd, networks of more weights or layers than a native call takes, and where the native
 * library cannot load, after one WARN that names the reason, or `fit` throws if `spark.dwell.fallback` is `error`.
 */
class MultilayerPerceptronClassifier(override val uid: String)
    extends SparkMultilayerPerceptronClassifier(uid)
    with AlgorithmParams
    with LeavingToSpark {

  def this() = this(Identifiable.randomUID("mlpc"))

  // Spark's own default is made of the name of its class, and gives the first weights.
  setDefault(seed, classOf[SparkMultilayerPerceptronClassifier].getName.hashCode.toLong)

  private[ml] override def algorithms: Seq[Algorithm] = Seq(Algorithm.ModelAveraging, Algorithm.LBFGS)

  // As in Spark, the estimator itself defines the setters, so that in Java they return the estimator and can be
  // chained.
  def setAlgorithm(value: String): this.type = set(algorithm, value)
  def setLocalWork(value: String): this.type = set(localWork, value)
  def setLocalWork(value: Double): this.type = set(localWork, value.toString)
  def setAggregation(value: String): this.type = set(aggregation, value)
  def setNumWorkers(value: Int): this.type = set(numWorkers, value)

  // In Spark these return Spark's own class, and in Scala a chain could not go on with the setters above.
  override def setLabelCol(value: String): this.type = set(labelCol, value)
  override def setFeaturesCol(value: String): this.type = set(featuresCol, value)
  override def setPredictionCol(value: String): this.type = set(predictionCol, value)
  override def setRawPredictionCol(value: String): this.type = set(rawPredictionCol, value)
  override def setProbabilityCol(value: String): this.type = set(probabilityCol, value)

  override protected def train(dataset: Dataset[_]): MultilayerPerceptronClassificationModel =
    FitEvents.during(dataset.sparkSession.sparkContext, uid, $(tol), $(maxIter))(trained(dataset))

  override def copy(extra: ParamMap): MultilayerPerceptronClassifier = defaultCopy(extra)

  private def trainBySuperclass(dataset: Dataset[_]): MultilayerPerceptronClassificationModel = super.train(dataset)

  private def trained(dataset: Dataset[_]): MultilayerPerceptronClassificationModel = {
    val clock = new FitClock
    val conf = DwellConf(dataset.sparkSession)
    unsupported
      .orElse(NativeLibrary.missing)
      .toLeft(())
      .flatMap(_ => NativeLibrary.orMissing(Right(natively(dataset, conf, clock)))) match {
      case Right(model) => model
      case Left(reason) =>
        leaveToSpark(conf, reason, missing = None)(clock.bySpark(trainBySuperclass(dataset))) { _ =>
          val phases = FitPhases.of(clock.seconds, reading = clock.readSeconds, spark = clock.sparkSeconds)
          FitFacts(tolerance = $(tol), numFeatures = $(layers).head, phases = phases)
        }
    }
  }

  private def unsupported: Option[String] = {
    val weights = $(layers).map(_.toLong).sliding(2).map { case Array(inputs, outputs) => (inputs + 1L) * outputs }.sum
    if ($(solver) != MultilayerPerceptronBridge.Lbfgs) Some(s"solver=${$(solver)} is not solved natively")
    else if (weights > ResultHeader.MAX_ENTRIES)
      Some(s"the layers have $weights weights, and native solvers take ${ResultHeader.MAX_ENTRIES}")
    else if ($(layers).length > NetworkLayout.MAX_LAYERS)
      Some(s"there are ${$(layers).length} layers, and native solvers take ${NetworkLayout.MAX_LAYERS}")
    else None
  }

  private def natively(
      dataset: Dataset[_],
      conf: DwellConf,
      clock: FitClock): MultilayerPerceptronClassificationModel = {
    val asked = problem(conf)
    ChangedInput.outlived(uid) {
      val names = ColumnNames($(featuresCol), $(labelCol), "")
      val rows = TrainingBridge.rows(this, dataset, numClasses = Some($(layers).last))
      val data = clock.reading(TrainingReader.read(rows, $(layers).head, uid, names, narrow = false))
      try built(dataset, NetworkTrainer.run(data, asked), clock)
      finally data.unpersist()
    }
  }

  private def problem(conf: DwellConf): NetworkProblem =
    NetworkProblem(
      uid,
      $(layers),
      MultilayerPerceptronBridge.start($(layers), get(initialWeights), $(seed)),
      algorithms.find(_.name == $(algorithm)).getOrElse(Algorithm.LBFGS),
      $(tol),
      $(maxIter),
      ParamValues.positive($(localWork)),
      get(stepSize),
      $(blockSize),
      $(seed),
      $(numWorkers),
      chosenAggregation,
      conf.solverSettings)

  private def built(
      dataset: Dataset[_],
      solution: NetworkSolution,
      clock: FitClock): MultilayerPerceptronClassificationModel = {
    val facts = solution.facts
    val model = clock.building {
      MultilayerPerceptronBridge.attachSummary(
        copyValues(MultilayerPerceptronBridge.model(uid, Vectors.dense(solution.weights))),
        dataset,
        facts.rounds.map(_.objective).toArray)
    }
    val phases = FitPhases.of(clock.seconds, clock.readSeconds, facts.setUpSeconds, facts.rounds, clock.modelSeconds)
    val outcome = FitLog.withCoefficients(facts.copy(request = FitLog.requested(this), phases = phases), model)
    FitLog.reported(this, model, NetworkFitReport(uid, outcome))
  }
}

object MultilayerPerceptronClassifier extends DefaultParamsReadable[MultilayerPerceptronClassifier] {

  override def load(path: String): MultilayerPerceptronClassifier = super.load(path)
}
