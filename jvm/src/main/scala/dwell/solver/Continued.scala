package dwell.solver

import dwell.solver.linear.{LinearProblem, LinearSolution}

/** Two solutions of one problem, the second by a method that has gone on where the first has ended. */
private[solver] object Continued {

  /**
   * Descent in the other orientation, after a trial that has failed: the better model, with the facts of the second fit.
   *
   * @param tried
   *   the result of the trial
   */
  def byDescent(problem: LinearProblem, tried: LinearSolution, second: LinearSolution): LinearSolution = {
    val (before, facts) = (tried.facts, second.facts)
    val best = if (before.objective < facts.objective) tried else second
    val bounded = facts.copy(objective = best.facts.objective, dual = math.max(before.dual, facts.dual))
    best.copy(
      facts = bounded.copy(
        converged = facts.converged || bounded.gap <= problem.tolerance * bounded.objective,
        restarts = before.restarts + facts.restarts,
        setUpSeconds = before.setUpSeconds + facts.setUpSeconds),
      stalled = false)
  }

  /**
   * L-BFGS: the better model, with the facts of its fit and the rounds of both.
   *
   * @param why
   *   the first method has ended
   */
  def bySearch(problem: LinearProblem, first: LinearSolution, second: LinearSolution, why: String): LinearSolution = {
    val (before, after) = (first.facts, second.facts)
    val best = if (after.objective < before.objective) second else first
    val bounded =
      best.facts.copy(dual =
        Seq(before.dual, after.dual).filterNot(_.isNaN).reduceOption(math.max(_, _)).getOrElse(Double.NaN))
    best.copy(
      facts = bounded.copy(
        converged = after.converged || bounded.gap <= problem.tolerance * bounded.objective,
        algorithm = s"${before.algorithm}+${after.algorithm}",
        orientation = before.orientation,
        orientationReason = before.orientationReason,
        handover = f"l-bfgs went on after round ${before.rounds.last.round}, where $why and the relative gap was " +
          f"${before.gap / before.objective}%.1e",
        restarts = before.restarts + after.restarts,
        rounds = after.rounds,
        setUpSeconds = before.setUpSeconds + after.setUpSeconds),
      stalled = false)
  }
}
