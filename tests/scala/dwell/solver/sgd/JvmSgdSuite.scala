package dwell.solver.sgd

import dwell.solver.sgd.jvm.JvmSgd
import dwell.solver.sgd.contract.SgdSolver

class JvmSgdSuite extends SgdSolverTests {
  override protected lazy val solver: SgdSolver = JvmSgd
}
