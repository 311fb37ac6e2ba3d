package dwell.solver.sgd

import dwell.solver.sgd.contract.SgdSolver
import dwell.solver.sgd.jvm.JvmSgd

/** The solver of stochastic gradient descent without native code. */
class JvmSgdSuite extends SgdSolverTests {
  override protected lazy val solver: SgdSolver = JvmSgd
}
