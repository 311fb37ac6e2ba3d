package dwell.solver.linear

import dwell.record.RoundRecord

/** The result of the rounds of a fit. [[LinearSolution]] describes the fields. */
private[dwell] final case class Trained(
    coefficients: Array[Double],
    intercepts: Array[Double],
    objective: Double,
    dual: Double,
    converged: Boolean,
    drift: Double,
    records: Seq[RoundRecord])
