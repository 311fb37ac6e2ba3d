package dwell.ml.training

import org.apache.spark.ml.{Model, TrainingBridge}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.param.shared._
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.{FoldedRows, TrainingReader, TrainingRows}
import dwell.data.block.{ColumnNames, TrainingRow}
import dwell.data.folds.Folds
import dwell.fit.DwellConf
import dwell.ml.param.{DwellParams, ParamValues}
import dwell.problem.{Algorithm, Labels, Orientation}
import dwell.record.{FitFacts, FitPhases}
import dwell.report.LinearFitReport
import dwell.solver.choice.Request
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.spark.NativeLibrary

/**
 * The training that all linear estimators share, from DataFrame to model and report. Where the native library cannot load,
 * Spark's own code trains after one WARN that names the reason, or `fit` throws if `spark.dwell.fallback` is
 * `error`. Spark's own code also says what is wrong with input that it refuses.
 */
trait LinearTraining[M <: Model[M]]
    extends SharingEstimator[M]
    with LeavingToSpark
    with DwellParams
    with HasFitIntercept
    with HasStandardization
    with HasTol
    with HasMaxIter {
  import LinearTraining._

  /** The shared data, during a fit that shares it with others. */
  private var shared: Option[SharedRows] = None

  /** Fits a model for each Param map, in their order. Param maps that read the same columns read the data once. */
  override def fit(dataset: Dataset[_], paramMaps: Seq[ParamMap]): Seq[M] = {
    val fits = fitMultiple(dataset, paramMaps.toArray)
    try Iterator.continually(fits).takeWhile(_.hasNext).map(_.next()).toSeq.sortBy(_.index).map(_.model)
    finally fits.close()
  }

  /**
   * Fits one model at a time, each with the index of its Param map, for callers that fit in several threads. A caller
   * that does not fetch all models must close the iterator.
   */
  def fitMultiple(dataset: Dataset[_], paramMaps: Array[ParamMap]): FitIterator[M] =
    new FitIterator(this, dataset, paramMaps.toSeq)

  private[training] override def fitSharing(dataset: Dataset[_], rows: SharedRows): M = {
    shared = Some(rows)
    // The model keeps this estimator as its parent, which must neither hold the data nor use it in a later fit.
    try fit(dataset)
    finally shared = None
  }

  /** What differs between linear estimators, for these Params and data. */
  private[ml] def task(dataset: Dataset[_]): LinearTask[M]

  /** Trains on `dataset`, natively or with Spark's own code. */
  protected final def trainLinear(dataset: Dataset[_]): M =
    FitEvents.during(dataset.sparkSession.sparkContext, uid, $(tol), $(maxIter))(trained(dataset, task(dataset)))

  private def trained(dataset: Dataset[_], task: LinearTask[M]): M = {
    val clock = new FitClock
    val conf = DwellConf(dataset.sparkSession)
    if (task.l2Divisor.isEmpty) checkStepSize(task, task.penalty.l2)
    lazy val first = task.rows()
    // Data that have changed are planned anew.
    val queries = Iterator(() => first) ++ Iterator.continually(() => task.rows())
    val numFeatures = shared.flatMap(_.vectorLength).getOrElse {
      clock.reading(TrainingBridge.numFeatures(dataset, $(featuresCol), first, TrainingRow.Features))
    }
    val outcome =
      task
        .refused(numFeatures)
        .orElse(NativeLibrary.missing) match {
        case Some(reason) => Left(reason)
        case None =>
          val asked = problem(task, conf)
          request(task, asked, numFeatures).check()
          onRows { rows =>
            NativeLibrary.orMissing {
              rows.use(uid, clock.reading(read(task, queries.next()(), numFeatures))) { (data, solver) =>
                val known = task.known(data)
                task.refused(data).toLeft {
                  val solution =
                    known.fold(solver.solve(onData(task, asked, data))) { case (coefficients, intercepts) =>
                      LinearSolution.known(coefficients, intercepts, data, $(tol))
                    }
                  built(task, data, solution, clock)
                }
              }
            }
          }
      }
    outcome match {
      case Right(model) => model
      case Left(reason) =>
        leaveToSpark(conf, reason, task.missingInSpark)(clock.bySpark(task.trainBySpark())) { _ =>
          val phases = FitPhases.of(clock.seconds, reading = clock.readSeconds, spark = clock.sparkSeconds)
          FitFacts(tolerance = $(tol), numFeatures = numFeatures, phases = phases)
        }
    }
  }

  /** Runs a fit on data that it shares with other fits, or on data of its own. */
  private def onRows[T](fit: SharedRows => T): T = shared.fold {
    val rows = new SharedRows
    try fit(rows)
    finally rows.close()
  }(fit)

  private def request(task: LinearTask[M], problem: LinearProblem, numFeatures: Int): Request =
    new Request(problem, numFeatures, task.isBounded)

  /**
   * Checks that a step of local SGD shrinks the coefficients by the L2 penalty and does not reverse their sign.
   *
   * @throws IllegalArgumentException
   *   if `stepSize` is too long
   */
  private def checkStepSize(task: LinearTask[M], l2: Double): Unit = {
    val averages = $(algorithm) == Algorithm.ModelAveraging.name
    ParamValues.positive($(stepSize)).filter(step => averages && step * l2 >= 1.0).foreach { step =>
      val weight = "the L2 part of regParam" + task.l2Divisor.fold("")(divisor => s" divided by $divisor")
      throw new IllegalArgumentException(
        s"stepSize = $step is too long: its product with $weight, which is $l2, must be less than 1, or a step would " +
          s"reverse the sign of the coefficients. Set stepSize below ${1.0 / l2}, or to '${ParamValues.Auto}'.")
    }
  }

  private def read(task: LinearTask[M], rows: RDD[InternalRow], numFeatures: Int): TrainingRows =
    TrainingReader.read(rows, numFeatures, uid, columnNames, isNarrow(task), isClassified(task))

  /**
   * Reads the rows of a search.
   *
   * @param tasks
   *   of each Param map
   * @param fold
   *   the column that names the fold of each row, if there is one
   * @param folds
   *   deals so many source partitions to folds
   * @param sets
   *   the folds of each training set
   * @return
   *   None if fits on the folds have to say what is wrong
   */
  private[ml] def readFolded(tasks: Seq[LinearTask[M]], dataset: Dataset[_], fold: Option[String], sets: Seq[Set[Int]])(
      folds: Int => Folds): Option[FoldedRows] = {
    val rows = tasks.head.rows(fold)
    val numFeatures = TrainingBridge.numFeatures(dataset, $(featuresCol), rows, TrainingRow.Features)
    TrainingReader.folded(
      rows,
      numFeatures,
      uid,
      columnNames,
      tasks.forall(isNarrow),
      isClassified(tasks.head),
      folds(rows.getNumPartitions),
      sets)
  }

  private def columnNames: ColumnNames = ColumnNames($(featuresCol), $(labelCol), get(weightCol).getOrElse(""))

  // With a scale, Spark's search moves all coefficients from the start, also those of features that never occur.
  private def isNarrow(task: LinearTask[M]): Boolean = task.loss.epsilon.isEmpty

  private def isClassified(task: LinearTask[M]): Boolean = task.loss.labels != Labels.Real

  /** The problem of the Params, before the data is known. */
  private def problem(task: LinearTask[M], conf: DwellConf): LinearProblem = LinearProblem(
    uid = uid,
    algorithm = Algorithm.all.find(_.name == $(algorithm)),
    loss = task.loss,
    penalty = task.penalty,
    intercept = $(fitIntercept),
    tolerance = $(tol),
    maxRounds = $(maxIter),
    localWork = ParamValues.positive($(localWork)),
    orientation = Orientation.named($(orientation)),
    numWorkers = $(numWorkers),
    aggregation = chosenAggregation,
    seed = Seed,
    initial = None,
    settings = conf.solverSettings,
    stepSize = ParamValues.positive($(stepSize)))

  private def onData(task: LinearTask[M], asked: LinearProblem, data: TrainingRows): LinearProblem = {
    val problem = asked.copy(
      loss = task.lossOn(data),
      penalty = task.penaltyOn(data),
      initial = task.initial(data),
      bounds = task.bounds(data))
    request(task, problem, data.numFeatures).unused.foreach { why =>
      logWarning(
        s"$uid: orientation and localWork are not used: coordinate descent does not train this model, as $why.")
    }
    checkStepSize(task, problem.penalty.l2)
    problem
  }

  private def built(task: LinearTask[M], data: TrainingRows, solution: LinearSolution, clock: FitClock): M = {
    val facts = solution.facts
    if (!facts.converged) {
      // Some algorithms give no bound.
      val proven = if (facts.gap.isNaN) "" else f" with a relative gap of ${facts.gap / facts.objective}%.2e"
      logWarning(
        s"$uid stopped after maxIter = ${$(maxIter)} rounds$proven, before tol = ${$(tol)} was met. Raise maxIter " +
          "or tol.")
    }
    if (solution.unbounded) {
      logWarning(
        s"$uid: the features separate the classes, or some of the rows, and without a penalty there is no best model: coefficients " +
          "grow for as long as the fit goes on. Set regParam above 0, or drop features that occur in one class only.")
    }
    val model = clock.building(task.model(data, solution))
    val phases = FitPhases.of(clock.seconds, clock.readSeconds, facts.setUpSeconds, facts.rounds, clock.modelSeconds)
    // Where all labels are the same there is nothing to explain.
    val explained =
      if (task.known(data).nonEmpty) Double.NaN
      else NullModel.explained(facts.objective, task.lossOn(data), $(fitIntercept), data)
    val counted = FitLog.withCoefficients(facts, model)
    val outcome = counted.copy(request = FitLog.requested(this), explained = explained, phases = phases)
    val report = LinearFitReport(uid, outcome)
    if (report.ofOneClass.nonEmpty) logWarning(s"$uid: ${report.ofOneClass}.")
    FitLog.reported(this, model, report)
  }
}

private object LinearTraining {

  /** Spark's linear estimators have no seed Param, so the order of the coordinates is the same in every fit. */
  private val Seed = 1L
}
