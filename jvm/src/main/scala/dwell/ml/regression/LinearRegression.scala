package dwell.ml.regression

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression, LinearRegressionBridge, LinearRegressionModel}
import org.apache.spark.ml.util.{DefaultParamsReadable, Identifiable}
import org.apache.spark.sql.Dataset

import dwell.DwellConf
import dwell.data.{ColumnNames, FlatDataset, Flattener}
import dwell.ml.param.DwellParams
import dwell.report.FitReport
import dwell.solver.{LocalWork, PrimalProblem, PrimalSolution, ResultLayout, RoundLoop}

/**
 * Spark's `LinearRegression`, trained by CoCoA with native local solvers.
 *
 * Params, setters and defaults are inherited, and `fit` returns Spark's own `LinearRegressionModel` with its training
 * summary. The objective is the one that Spark's choice of solver would have minimised,
 *
 * {{{
 *   1/(2S) sum_j s_j (y_j - b - x_j^T a)^2 + regParam [ elasticNetParam sum_i u_i |a_i|
 *                                                     + (1 - elasticNetParam) / (2 sd_y) sum_i u_i^2 a_i^2 ]
 * }}}
 *
 * with u_i the deviation of feature i (1 where `standardization` is off), sd_y that of the label, both of the population
 * for `solver` `normal` (Spark's `auto` up to 4096 features) and of the sample for `l-bfgs`.
 *
 * `tol` bounds the relative suboptimality of the result: training stops once the duality gap is at most `tol` times the
 * objective. `maxIter` is the most rounds. [[dwell.report.FitReport]] holds the certificate.
 *
 * What is not solved here is trained by the superclass, Spark's own code, after one WARN that names the reason, or is an
 * exception where `spark.dwell.fallback` is `error`: the huber loss, a label without variance, Spark's `normal` solver
 * above its 4096 features, and, unless `algorithm` is `cocoa`, a fit without a penalty, for which no certificate exists.
 */
class LinearRegression(override val uid: String) extends SparkLinearRegression(uid) with DwellParams {
  import LinearRegression._

  def this() = this(Identifiable.randomUID("linReg"))

  // As in Spark, setters are the estimator's own: in Java they then return the estimator and can be chained.
  def setAlgorithm(value: String): this.type = set(algorithm, value)
  def setOrientation(value: String): this.type = set(orientation, value)
  def setLocalWork(value: String): this.type = set(localWork, value)
  def setLocalWork(value: Double): this.type = set(localWork, value.toString)
  def setAggregation(value: String): this.type = set(aggregation, value)
  def setNumWorkers(value: Int): this.type = set(numWorkers, value)

  override protected def train(dataset: Dataset[_]): LinearRegressionModel = {
    val started = System.nanoTime()
    val conf = DwellConf(dataset.sparkSession)
    val numFeatures = LinearRegressionBridge.numFeatures(this, dataset)
    unsupported(numFeatures) match {
      case Some(reason) => trainBySpark(dataset, reason, conf, started)
      case None =>
        val names = ColumnNames($(featuresCol), $(labelCol), get(weightCol).getOrElse(""))
        val rows = LinearRegressionBridge.rows(this, dataset)
        val data = Flattener.flatten(rows, numFeatures, $(numWorkers), uid, names)
        try {
          unsuitable(data, conf) match {
            case Some(reason) => trainBySpark(dataset, reason, conf, started)
            case None => trainByCoCoA(dataset, data, conf, started)
          }
        } finally data.unpersist()
    }
  }

  override def copy(extra: ParamMap): LinearRegression = defaultCopy(extra)

  /** What is known from the Params alone. */
  private def unsupported(numFeatures: Int): Option[String] =
    if ($(loss) != SquaredError) Some(s"the loss ${$(loss)} is not solved natively")
    else if ($(regParam) == 0.0 && $(algorithm) != DwellParams.CoCoA) {
      Some(
        "regParam is 0, and without a penalty there is no certificate of optimality; algorithm=cocoa trains natively " +
          "all the same")
    } else if ($(solver) == Normal && numFeatures > LinearRegressionBridge.maxFeaturesForNormal) {
      Some(s"solver=normal takes at most ${LinearRegressionBridge.maxFeaturesForNormal} features")
    } else None

  /** What only the data shows. */
  private def unsuitable(data: FlatDataset, conf: DwellConf): Option[String] = {
    val exchanged = data.numPartitions.toLong * ResultLayout.length(data.numRows)
    if (data.labelConstant) Some("the label is constant")
    else if (conf.maxResultBytes > 0 && exchanged > conf.maxResultBytes) {
      val message = s"a round brings $exchanged bytes to the driver (${data.numPartitions} workers, ${data.numRows} " +
        s"rows), more than spark.driver.maxResultSize (${conf.maxResultBytes}); raise it or lower numWorkers"
      if ($(algorithm) == DwellParams.CoCoA) throw new IllegalArgumentException(message)
      Some(message)
    } else None
  }

  private def trainByCoCoA(
      dataset: Dataset[_],
      data: FlatDataset,
      conf: DwellConf,
      started: Long): LinearRegressionModel = {
    val flattenSeconds = secondsSince(started)
    val population =
      $(solver) == Normal || ($(solver) == Auto && data.numFeatures <= LinearRegressionBridge.maxFeaturesForNormal)
    val sampleFactor =
      if (population) 1.0 else data.totalWeight / (data.totalWeight - data.weightSquareSum / data.totalWeight)
    val labelDeviation = math.sqrt(data.labelVariance * sampleFactor)
    val problem = PrimalProblem(
      uid = uid,
      l1 = $(regParam) * $(elasticNetParam),
      l2 = $(regParam) * (1.0 - $(elasticNetParam)) / labelDeviation,
      scaleFactor = if ($(standardization)) sampleFactor else 0.0,
      centred = $(fitIntercept),
      tolerance = $(tol),
      maxRounds = $(maxIter),
      localWork = DwellParams
        .fraction($(localWork))
        .getOrElse(LocalWork.epochs(data.numPartitions, data.nonzerosPerPartition.max)),
      seed = Seed,
      threads = conf.taskCpus,
      travellingState = conf.travellingState,
      selection = conf.selection)
    val solution = new RoundLoop(dataset.sparkSession.sparkContext, data, problem).run()
    if (!solution.converged) {
      logWarning(
        f"$uid stopped after maxIter = ${$(maxIter)} rounds with a relative gap of " +
          f"${solution.gap / solution.objective}%.2e, above tol = ${$(tol)}%.1e. Raise maxIter or localWork, or tol.")
    }
    // Spark's objective history is in units of the scaled label.
    val history = solution.rounds.map(_.objective / (labelDeviation * labelDeviation)).toArray
    val model = copyValues(
      LinearRegressionBridge.model(uid, Vectors.dense(solution.coefficients).compressed, solution.intercept))
    FitReport.attach(
      LinearRegressionBridge.attachSummary(model, dataset, history),
      report(data, solution, flattenSeconds, secondsSince(started)))
  }

  private def report(
      data: FlatDataset,
      solution: PrimalSolution,
      flattenSeconds: Double,
      totalSeconds: Double): FitReport =
    FitReport(
      uid = uid,
      algorithm = DwellParams.CoCoA,
      orientation = "primal",
      solver = solution.solver,
      reason = None,
      rounds = solution.rounds,
      objective = solution.objective,
      gap = solution.gap,
      tolerance = $(tol),
      converged = solution.converged,
      drift = solution.drift,
      numRows = data.numRows,
      numFeatures = data.numFeatures,
      nonzeros = data.nonzeros,
      nonzerosPerPartition = data.nonzerosPerPartition.toSeq,
      flattenSeconds = flattenSeconds,
      totalSeconds = totalSeconds)

  private def trainBySpark(
      dataset: Dataset[_],
      reason: String,
      conf: DwellConf,
      started: Long): LinearRegressionModel = {
    if (conf.fallbackIsError) {
      throw new UnsupportedOperationException(
        s"$uid is not trained natively: $reason. ${DwellConf.Fallback}=error forbids to train it by Spark's own code.")
    }
    logWarning(s"$uid is trained by Spark's own code: $reason.")
    val model = super.train(dataset)
    FitReport.attach(model, FitReport.bySpark(uid, reason, $(tol), model.numFeatures, secondsSince(started)))
  }
}

object LinearRegression extends DefaultParamsReadable[LinearRegression] {

  private val SquaredError = "squaredError"
  private val Normal = "normal"
  private val Auto = "auto"

  /** LinearRegression has no seed Param in Spark, so the order of the coordinates is the same in every fit. */
  private val Seed = 1L

  override def load(path: String): LinearRegression = super.load(path)

  private def secondsSince(start: Long): Double = (System.nanoTime() - start) * 1e-9
}
