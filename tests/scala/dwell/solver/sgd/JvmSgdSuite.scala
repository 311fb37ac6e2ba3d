package dwell.solver.sgd

import dwell.solver.JvmSolver

class JvmSgdSuite extends SgdSolverTests {
  override protected lazy val solver: SgdSolver = JvmSolver.shared.sgd
}
