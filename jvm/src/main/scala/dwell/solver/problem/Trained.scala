package dwell.solver.problem

import dwell.report.RoundRecord

/** What the rounds of a fit led to, as [[LinearSolution]] has it. */
private[dwell] final case class Trained(
    coefficients: Array[Double],
    intercepts: Array[Double],
    objective: Double,
    dual: Double,
    converged: Boolean,
    drift: Double,
    solver: String,
    records: Seq[RoundRecord])
