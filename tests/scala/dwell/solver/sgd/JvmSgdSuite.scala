package dwell.solver.sgd

import dwell.solver.cd.jvm.JvmSolver
import dwell.solver.sgd.contract.SgdSolver

class JvmSgdSuite extends SgdSolverTests {
  override protected lazy val solver: SgdSolver = JvmSolver.shared.sgd
}
