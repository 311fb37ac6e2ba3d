package dwell.solver.choice

import dwell.problem.Orientation
import dwell.solver.linear.{LinearProblem, LinearSolution}

/**
 * A method goes on where another one has ended without a proof.
 *
 * @param from
 *   the methods that it goes on from
 * @param to
 *   the method that goes on
 * @param when
 *   why it goes on; None if the fit has ended
 */
private[solver] final case class Handover private (
    from: Method => Boolean,
    to: Method,
    when: Handover.Ended => Option[String])

private[solver] object Handover {
  import Method._

  /**
   * What a method has ended with.
   *
   * @param hasRoom
   *   whether the driver has room for the vectors of L-BFGS
   */
  final case class Ended(problem: LinearProblem, solution: LinearSolution, hasRoom: Boolean)

  /** All hand-overs. */
  private val table = Seq(
    Handover(isOnTrial, Descent(Orientation.Primal), when = trialFailed),
    Handover(_ == Newton, Search, when = stalled),
    Handover(_ == Newton, Search, when = cornerIsLeft),
    Handover(_.orientation.nonEmpty, Search, when = unproven(_, "its rounds had become slow")))

  /** The method that goes on after another one, and why; None if the fit has ended. */
  def after(method: Method, ended: Ended): Option[(Method, String)] =
    table.iterator.filter(_.from(method)).flatMap(row => row.when(ended).map(row.to -> _)).find(_ => true)

  private def isOnTrial(method: Method): Boolean = method match {
    case Descent(_, onTrial) => onTrial
    case _ => false
  }

  private def trialFailed(ended: Ended): Option[String] = if (ended.solution.stalled)
    Some(s"after ${ended.solution.facts.rounds.last.round} rounds in the dual form the gap was not closed")
  else None

  /** Newton's method cannot find the optimum. */
  private def stalled(ended: Ended): Option[String] = if (ended.solution.stalled) Some {
    if (ended.problem.loss.epsilon.nonEmpty) "few errors were within epsilon scales"
    else "features nearly explain one another"
  }
  else None

  private def cornerIsLeft(ended: Ended): Option[String] =
    if (ended.problem.loss.hasCorner) unproven(ended, "no step lowered the objective") else None

  /** The rounds have ended above the tolerance, and the fit chooses its methods. */
  private def unproven(ended: Ended, why: String): Option[String] =
    if (ended.problem.isAuto && !ended.solution.facts.converged && ended.hasRoom) Some {
      val most = ended.problem.maxRounds
      if (ended.solution.facts.rounds.last.round >= most) s"maxIter = $most rounds were done" else why
    }
    else None
}
