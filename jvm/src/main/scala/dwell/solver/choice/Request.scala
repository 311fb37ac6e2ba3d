package dwell.solver.choice

import dwell.data.TrainingRows
import dwell.problem.{Algorithm, Loss, Orientation, Penalty}
import dwell.solver.linear.LinearProblem

/**
 * What a problem asks for, and what it rules out.
 *
 * @param isBounded
 *   whether coefficients or intercepts have bounds
 */
private[dwell] final class Request(problem: LinearProblem, numFeatures: Int, isBounded: Boolean) {
  private val loss = problem.loss
  private val penalty = problem.penalty

  /**
   * Checks that the algorithm and the orientation asked for train the model.
   *
   * @throws IllegalArgumentException
   *   if they do not; the message says why
   */
  def check(): Unit = {
    for (algorithm <- problem.algorithm; why <- objection(algorithm)) {
      throw new IllegalArgumentException(
        s"algorithm=${algorithm.name} cannot train this model: $why. Use algorithm auto.")
    }
    for (orientation <- problem.orientation; why <- refusal(orientation) if !isFree) {
      throw new IllegalArgumentException(why)
    }
  }

  /** Whether the fit chooses. Params for coordinate descent ask for it where it trains the model, with a proof. */
  def isFree: Boolean = problem.isAuto && (!isForDescent || notByDescent.nonEmpty)

  /** Why Params that are set for coordinate descent are not used; None if none are, or they are used. */
  def unused: Option[String] = notByDescent.filter(_ => isFree && isForDescent)

  /** Why a fit that chooses does not take coordinate descent, whatever the data; None if it may. */
  def notByDescent: Option[String] =
    objection(Algorithm.CoCoA).orElse(if (penalty.isNone) Some("regParam is 0") else None)

  /** Why an algorithm does not train the model; None if it does. */
  def objection(algorithm: Algorithm): Option[String] = algorithm match {
    case Algorithm.Newton => Request.notByNewton(loss, penalty, numFeatures)
    case Algorithm.LBFGS => None
    case _ if loss.epsilon.nonEmpty => Some(s"the $loss loss has a scale")
    case _ if isBounded => Some("coefficients or intercepts have bounds")
    case Algorithm.ModelAveraging => None
    case Algorithm.CoCoA =>
      if (loss.outputs > 1) Some(s"there are ${loss.outputs} classes")
      else if (penalty.isNone && loss.curvature.isInfinite)
        Some(s"regParam is 0, and without an L2 penalty the $loss loss has no dual problem, which it is solved by")
      else None
  }

  private def isForDescent: Boolean = problem.orientation.nonEmpty || problem.localWork.nonEmpty

  private def refusal(orientation: Orientation): Option[String] =
    problem.algorithm.filter(_ != Algorithm.CoCoA) match {
      case Some(other) =>
        if (orientation == Orientation.Primal)
          Some(
            s"orientation=primal is not for algorithm=${other.name}, whose steps are along rows. Use orientation dual or auto.")
        else None
      case None =>
        orientation.objection(loss, penalty).map {
          case Orientation.NotSmooth =>
            s"orientation=primal needs a loss with a derivative everywhere, which the $loss loss does not have. " +
              "Use orientation dual or auto."
          case Orientation.NoL2 =>
            val cause =
              if (penalty.isNone) "regParam is 0"
              else "elasticNetParam is 1, and the L1 penalty alone leaves the dual problem without a unique model"
            s"orientation=dual needs an L2 penalty, but $cause. Use orientation primal or auto, or " +
              (if (penalty.isNone) "raise regParam." else "lower elasticNetParam.")
        }
    }
}

private object Request {
  private def notByNewton(loss: Loss, penalty: Penalty, numFeatures: Int): Option[String] =
    if (loss.outputs.toLong * numFeatures > TrainingRows.Few) {
      val counted = if (loss.outputs == 1) "" else s" in ${loss.outputs} classes"
      Some(s"it takes at most ${TrainingRows.Few} coefficients, and there are $numFeatures features$counted")
    } else if (loss.epsilon.nonEmpty)
      if (penalty.l1 > 0.0) Some(s"the $loss loss has no proof of optimality with an L1 penalty") else None
    else if (loss.selfConcordance.isEmpty && !(penalty.l1 == 0.0 && penalty.l2 > 0.0)) {
      Some(s"the $loss loss needs an L2 penalty, and no other one, for a proof of optimality")
    } else None
}
