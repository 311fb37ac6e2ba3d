package dwell.solver

import dwell.fit.SolverSettings
import dwell.problem.{Penalty, Squared}
import dwell.solver.linear.LinearProblem

/** The problem that tests copy with what they change. */
object TestProblem {
  val settings: SolverSettings = SolverSettings(threads = 1, gangPatienceMillis = 10000L, driverBytes = Long.MaxValue)

  /** Ridge regression with an intercept by two workers, in as many rounds as take it to a relative gap of 1e-6. */
  val linear: LinearProblem = LinearProblem(
    "test",
    algorithm = None,
    Squared,
    Penalty(l1 = 0.0, l2 = 0.1),
    intercept = true,
    tolerance = 1e-6,
    maxRounds = 100,
    localWork = None,
    orientation = None,
    numWorkers = 2,
    aggregation = None,
    seed = 1L,
    initial = None,
    settings)
}
