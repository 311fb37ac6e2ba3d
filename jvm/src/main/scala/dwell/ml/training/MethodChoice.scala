package dwell.ml.training

import dwell.data.TrainingRows
import dwell.problem.{Algorithm, GradientAlgorithm, Loss, MarginLoss, Orientation, Penalty}
import dwell.solver.{LinearTrainer, NewtonChoice}

/**
 * The algorithm of a fit.
 *
 * @param asked
 *   the Param algorithm; None leaves the choice to the fit
 * @param isForDescent
 *   whether Params are set that only coordinate descent has
 * @param isBounded
 *   whether coefficients or intercepts have bounds
 */
private[training] final case class MethodChoice(
    asked: Option[Algorithm],
    isForDescent: Boolean,
    loss: Loss,
    penalty: Penalty,
    isBounded: Boolean,
    numFeatures: Int) {
  import MethodChoice._

  /**
   * Checks that the algorithm asked for trains the model.
   *
   * @throws IllegalArgumentException
   *   if it does not; the message says why
   */
  def check(): Unit =
    for (algorithm <- asked; why <- objection(algorithm)) {
      throw new IllegalArgumentException(
        s"algorithm=${algorithm.name} cannot train this model: $why. Use algorithm auto.")
    }

  /** Whether the fit chooses. Params for coordinate descent ask for it where it trains the model, with a proof. */
  def isFree: Boolean = asked.isEmpty && (!isForDescent || notByDescent.nonEmpty)

  /** Why Params that are set for coordinate descent are not used; None if none are, or they are used. */
  def unused: Option[String] = notByDescent.filter(_ => isFree && isForDescent)

  /** The algorithm where the fit does not choose. */
  def set: Algorithm = asked.getOrElse(Algorithm.CoCoA)

  /** The algorithm for these rows, why, and the seconds of work that speak for it; nothing of it where the user asks for it. */
  def on(data: TrainingRows): (Algorithm, String, Option[Double]) =
    if (!isFree) (set, "", None)
    else {
      val forecast = Option.when(objection(Algorithm.Newton).isEmpty)(NewtonChoice.forecast(loss, penalty, data))
      forecast match {
        case Some(newton) if newton.isFaster => (Algorithm.Newton, newton.toString, Some(newton.newton))
        case _ =>
          forecast
            .flatMap(_.objection)
            .orElse(notByDescent)
            .orElse(slowByDescent(data))
            .fold[(Algorithm, String, Option[Double])]((Algorithm.CoCoA, "", None))((Algorithm.LBFGS, _, None))
      }
    }

  private def notByDescent: Option[String] =
    objection(Algorithm.CoCoA).orElse(Option.when(penalty.isNone)("regParam is 0"))

  /** Why an algorithm does not train the model; None if it does. */
  private def objection(algorithm: Algorithm): Option[String] = algorithm match {
    case Algorithm.Newton => NewtonChoice.objection(loss, penalty, numFeatures)
    case Algorithm.LBFGS => None
    case _ if loss.epsilon.nonEmpty => Some(s"the $loss loss has a scale")
    case _ if isBounded => Some("coefficients or intercepts have bounds")
    case _: GradientAlgorithm => None
    case _ if loss.outputs > 1 => Some(s"there are ${loss.outputs} classes")
    case _ if !algorithm.ofRows && penalty.isNone && loss.curvature.isInfinite =>
      Some(s"regParam is 0, and without an L2 penalty the $loss loss has no dual problem, which it is solved by")
    case _ => None
  }

  /** Why a fit that Newton's method does not train is for L-BFGS and not for coordinate descent. */
  private def slowByDescent(data: TrainingRows): Option[String] = {
    val isCurved = loss match {
      case margin: MarginLoss => !margin.isParabola && !margin.saturates
      case _ => false
    }
    val reason =
      if (isCurved && data.numFeatures <= WideLogistic * data.numRows)
        Some(s"a pass for the $loss loss takes less than its coordinate steps")
      else {
        Option.when(penalty.l2 == 0.0 && data.numRows > Orientation.PrimalRows)(
          s"the penalty has no L2 part, and there are more than ${Orientation.PrimalRows} rows")
      }
    reason.filter(_ => LinearTrainer.hasRoom(loss, data.numFeatures))
  }
}

private object MethodChoice {

  /**
   * Times as many features as rows up to which L-BFGS needs fewer seconds for a loss that is curved everywhere: 20,000 x 200,000 and
   * 500,000 x 1,048,576, but not 63,540 x 903,150 (bench/results/2026-11-26-grid). Beyond, there are few dual variables.
   */
  private val WideLogistic = 12L
}
