package dwell.ml.training

import org.apache.spark.ml.{Model, TrainingBridge}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.ml.param.shared._
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{CacheBridge, Dataset}
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.{TrainingReader, TrainingRows}
import dwell.data.block.{ColumnNames, TrainingRow}
import dwell.fit.DwellConf
import dwell.ml.param.{DwellParams, ParamValues}
import dwell.problem.{Algorithm, GradientAlgorithm, Loss, MarginLoss, Orientation, Penalty}
import dwell.record.FitPhases
import dwell.report.{FitReport, LinearFitReport, SparkFitReport}
import dwell.solver.{LinearTrainer, NewtonChoice}
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.spark.NativeLibrary

/**
 * The training that all linear estimators share, from DataFrame to model and report. If a problem cannot be solved
 * natively, Spark's own code trains after one WARN that names the reason, or `fit` throws if `spark.dwell.fallback` is
 * `error`.
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

  /** Trains `task` on `dataset`, natively or with Spark's own code. */
  protected final def trainLinear(dataset: Dataset[_], task: LinearTask[M]): M =
    FitEvents.during(dataset.sparkSession.sparkContext, uid, $(tol), $(maxIter))(trained(dataset, task))

  private def trained(dataset: Dataset[_], task: LinearTask[M]): M = {
    val clock = new FitClock
    val conf = DwellConf(dataset.sparkSession)
    if (task.l2Divisor.isEmpty) checkStepSize(task, task.penalty.l2)
    lazy val first = task.rows
    // Data that have changed are planned anew.
    val queries = Iterator(() => first) ++ Iterator.continually(() => task.rows)
    val numFeatures =
      clock.reading(TrainingBridge.numFeatures(dataset, $(featuresCol), first, TrainingRow.Features))
    val outcome =
      task.unsupported(numFeatures).orElse(unpenalised(task, numFeatures)).orElse(NativeLibrary.missing) match {
        case Some(reason) => Left(reason)
        case None =>
          checkNewton(task.loss, task.penalty, numFeatures)
          val possible =
            Orientations.possible(Orientation.named($(orientation)), chosenAlgorithm, task.loss, task.penalty)
          onRows(dataset, numFeatures, conf) { rows =>
            NativeLibrary.orMissing {
              rows.use(uid, clock.reading(read(queries.next()(), numFeatures))) { (data, solver) =>
                task.unsuitable(data).orElse(outOfReach(task, data)) match {
                  case Some(reason) => Left(reason)
                  case None =>
                    val (chosen, why) = algorithmFor(task, data)
                    orientationWithin(possible, task, data, chosen, conf).flatMap { orientation =>
                      trainNatively(task, data, solver, problem(task, data, chosen, why, orientation, conf), clock)
                    }
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
          SparkFitReport.of(uid, reason, numFeatures, phases, $(tol))
        }
    }
  }

  /** Runs a fit on data that it shares with other fits if possible, and on data of its own otherwise. */
  private def onRows[T](dataset: Dataset[_], numFeatures: Int, conf: DwellConf)(fit: SharedRows => T): T =
    shared match {
      case Some(rows) => fit(rows)
      case None =>
        val names = Seq($(featuresCol), $(labelCol)) ++ get(weightCol).filter(_.nonEmpty)
        // Each class checks its input in its own way, and only the same solver finds the states of an earlier fit.
        val settings = (getClass.getName, numFeatures, conf.travellingState, conf.taskCpus)
        val kept =
          if (conf.shareData) DataSharing.use(settings)(() => CacheBridge.cachedColumns(dataset, names))(fit) else None
        kept.getOrElse {
          val rows = new SharedRows
          try fit(rows)
          finally rows.close()
        }
    }

  protected final def chosenAlgorithm: Algorithm =
    Algorithm.all.find(_.name == $(algorithm)).getOrElse(Algorithm.CoCoA)

  private def checkNewton(loss: Loss, penalty: Penalty, numFeatures: Int): Unit =
    if (chosenAlgorithm == Algorithm.Newton) {
      NewtonChoice.objection(loss, penalty, numFeatures).foreach { why =>
        throw new IllegalArgumentException(s"algorithm=newton cannot train this model: $why. Use algorithm auto.")
      }
    }

  /** Whether the user leaves the choice of the method to the fit. */
  protected final def isFree: Boolean = Seq(algorithm, orientation, localWork).forall($(_) == ParamValues.Auto)

  /** Whether Newton's method may train a model with this loss. */
  protected final def mayTakeNewton(loss: Loss, penalty: Penalty, numFeatures: Int): Boolean =
    chosenAlgorithm == Algorithm.Newton || isFree && NewtonChoice.objection(loss, penalty, numFeatures).isEmpty

  /** The algorithm of a fit, and why; empty where the user asks for it. */
  private def algorithmFor(task: LinearTask[M], data: TrainingRows): (Algorithm, String) = {
    val loss = task.lossOn(data)
    if (!isFree) (chosenAlgorithm, "")
    else {
      val forecast = Option.when(NewtonChoice.objection(loss, task.penalty, data.numFeatures).isEmpty)(
        NewtonChoice.forecast(loss, task.penalty, data))
      forecast.filter(_.isFaster) match {
        case Some(faster) => (Algorithm.Newton, faster.toString)
        case None =>
          notByCoordinates(task, loss, data).fold[(Algorithm, String)]((chosenAlgorithm, ""))((Algorithm.LBFGS, _))
      }
    }
  }

  /** Why a fit that Newton's method does not train is for L-BFGS and not for coordinate descent. */
  private def notByCoordinates(task: LinearTask[M], loss: Loss, data: TrainingRows): Option[String] =
    if (loss.outputs > 1) Some(s"there are ${loss.outputs} classes")
    else if (task.penalty.isNone) Some("regParam is 0")
    else {
      val isCurved = loss match {
        case margin: MarginLoss => !margin.isParabola && !margin.saturates
        case _ => false
      }
      val reason =
        if (isCurved && data.numFeatures <= WideLogistic * data.numRows)
          Some(s"a pass for the $loss loss takes less than its coordinate steps")
        else {
          Option.when(task.penalty.l2 == 0.0 && data.numRows > Orientation.PrimalRows)(
            s"the penalty has no L2 part, and there are more than ${Orientation.PrimalRows} rows")
        }
      reason.filter(_ => LinearTrainer.hasRoom(loss, data.numFeatures))
    }

  /** Why a fit for which `auto` has no method, or no room, is left to Spark after all. */
  private def outOfReach(task: LinearTask[M], data: TrainingRows): Option[String] = {
    val loss = task.lossOn(data)
    val onlyNewton =
      if (loss.epsilon.nonEmpty) Some(s"the loss is $loss, with its scale")
      else task.bounds(data).map(_ => "coefficients or intercepts have bounds")
    algorithmFor(task, data)._1 match {
      case Algorithm.Newton => None
      case chosen if isFree && onlyNewton.nonEmpty =>
        onlyNewton.map { what =>
          NewtonChoice.objection(loss, task.penalty, data.numFeatures) match {
            case Some(why) => s"$what, which Newton's method solves natively, but $why"
            case None =>
              s"$what, and with ${data.numFeatures} features Spark's own code is forecast to be faster than Newton's method"
          }
        }
      case chosen if isFree && chosen == Algorithm.LBFGS && !LinearTrainer.hasRoom(loss, data.numFeatures) =>
        Some(
          s"the driver has no room for the vectors of l-bfgs, of ${data.numFeatures} features in ${loss.outputs} classes")
      case _ => None
    }
  }

  private def unpenalised(task: LinearTask[M], numFeatures: Int): Option[String] =
    if (!task.penalty.isNone || chosenAlgorithm.ofRows || isFree) None
    else if (task.loss.curvature.isInfinite) {
      Some(s"regParam is 0, and without an L2 penalty the ${task.loss} loss has no dual problem, which it is solved by")
    } else if ($(algorithm) == ParamValues.Auto) {
      Some(
        "regParam is 0, and without a penalty there is no certificate of optimality; algorithm=cocoa trains natively " +
          "all the same")
    } else None

  /**
   * Checks that a step of local SGD shrinks the coefficients by the L2 penalty and does not reverse their sign.
   *
   * @throws IllegalArgumentException
   *   if `stepSize` is too long
   */
  private def checkStepSize(task: LinearTask[M], l2: Double): Unit = {
    val averages = chosenAlgorithm match {
      case algorithm: GradientAlgorithm => algorithm.averages
      case _ => false
    }
    ParamValues.positive($(stepSize)).filter(step => averages && step * l2 >= 1.0).foreach { step =>
      val weight = "the L2 part of regParam" + task.l2Divisor.fold("")(divisor => s" divided by $divisor")
      throw new IllegalArgumentException(
        s"stepSize = $step is too long: its product with $weight, which is $l2, must be less than 1, or a step would " +
          s"reverse the sign of the coefficients. Set stepSize below ${1.0 / l2}, or to '${ParamValues.Auto}'.")
    }
  }

  private def read(rows: RDD[InternalRow], numFeatures: Int): TrainingRows = {
    val names = ColumnNames($(featuresCol), $(labelCol), get(weightCol).getOrElse(""))
    TrainingReader.read(rows, numFeatures, uid, names)
  }

  private def orientationWithin(
      possible: Seq[Orientation],
      task: LinearTask[M],
      data: TrainingRows,
      chosen: Algorithm,
      conf: DwellConf): Either[String, Option[Orientation]] = {
    val outputs = task.classes(data).getOrElse(1)
    Orientations.withinLimit(
      Orientation.named($(orientation)),
      if (chosen.ofRows) Seq(Orientation.Dual) else possible,
      chosen,
      data,
      outputs,
      $(numWorkers),
      chosenAggregation(conf),
      conf) match {
      case Left(message) if $(algorithm) != ParamValues.Auto => throw new IllegalArgumentException(message)
      case chosen => chosen
    }
  }

  private def problem(
      task: LinearTask[M],
      data: TrainingRows,
      chosen: Algorithm,
      reason: String,
      orientation: Option[Orientation],
      conf: DwellConf): LinearProblem = {
    val penalty = task.penaltyOn(data)
    checkNewton(task.lossOn(data), penalty, data.numFeatures)
    checkStepSize(task, penalty.l2)
    LinearProblem(
      uid = uid,
      algorithm = chosen,
      reason = reason,
      loss = task.lossOn(data),
      penalty = penalty,
      intercept = $(fitIntercept),
      tolerance = $(tol),
      maxRounds = $(maxIter),
      localWork = ParamValues.positive($(localWork)),
      orientation = orientation,
      numWorkers = $(numWorkers),
      aggregation = chosenAggregation(conf),
      seed = Seed,
      initial = task.initial(data),
      settings = conf.solverSettings,
      stepSize = ParamValues.positive($(stepSize)),
      handsOver = $(algorithm) == ParamValues.Auto,
      bounds = task.bounds(data))
  }

  private def trainNatively(
      task: LinearTask[M],
      data: TrainingRows,
      solver: LinearTrainer,
      problem: LinearProblem,
      clock: FitClock): Either[String, M] = {
    val solution = solver.solve(problem)
    if (solution.stalled)
      Left(s"${problem.algorithm.name} does not find the optimum of the ${problem.loss} loss on these data")
    else Right(built(task, data, solution, clock))
  }

  private def built(task: LinearTask[M], data: TrainingRows, solution: LinearSolution, clock: FitClock): M = {
    val facts = solution.facts
    if (!facts.converged) {
      // Some algorithms give no bound.
      val proven = if (facts.gap.isNaN) "" else f" with a relative gap of ${facts.gap / facts.objective}%.2e"
      logWarning(
        s"$uid stopped after maxIter = ${$(maxIter)} rounds$proven, before tol = ${$(tol)} was met. Raise maxIter or " +
          "localWork, or tol.")
    }
    if (solution.unbounded) {
      logWarning(
        s"$uid: the features separate the classes, or some of the rows, and without a penalty there is no best model: coefficients " +
          "grow for as long as the fit goes on. Set regParam above 0, or drop features that occur in one class only.")
    }
    val model = clock.building(task.model(data, solution))
    val phases = FitPhases.of(clock.seconds, clock.readSeconds, facts.setUpSeconds, facts.rounds, clock.modelSeconds)
    FitReport.attach(model, LinearFitReport(uid, facts.copy(phases = phases)))
  }
}

private object LinearTraining {

  /** Spark's linear estimators have no seed Param, so the order of the coordinates is the same in every fit. */
  private val Seed = 1L

  /**
   * Features for a row up to which L-BFGS needs fewer seconds for a loss that is curved everywhere: 20,000 x 200,000 and
   * 500,000 x 1,048,576, but not 63,540 x 903,150 (bench/results/2026-11-26-grid). Beyond, there are few dual variables.
   */
  private val WideLogistic = 12L
}
