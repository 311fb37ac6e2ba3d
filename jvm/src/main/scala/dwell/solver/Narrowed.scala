package dwell.solver

import dwell.data.block.OccurringFeatures
import dwell.solver.linear.{LinearProblem, LinearSolution}

/** Problems and solutions in all features of the source, and in those that occur. */
private[solver] object Narrowed {

  /** The problem in the features that occur. A feature that does not occur has no say in the loss, and the coefficient 0. */
  def problem(all: LinearProblem, occurring: OccurringFeatures): LinearProblem = all.copy(
    initial = all.initial.map { case (coefficients, intercepts) => (occurring.narrowed(coefficients), intercepts) },
    bounds = all.bounds.map { bounds =>
      bounds.copy(lower = occurring.narrowed(bounds.lower), upper = occurring.narrowed(bounds.upper))
    })

  /** The solution in all features. */
  def spread(solution: LinearSolution, occurring: OccurringFeatures): LinearSolution = solution.copy(
    coefficients = occurring.spread(solution.coefficients),
    inverseDiagonal = None,
    facts = solution.facts.copy(
      numFeatures = occurring.all,
      placement = s"${solution.facts.placement}; ${occurring.count} of ${occurring.all} features occur"))
}
