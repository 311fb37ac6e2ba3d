package dwell.solver.cd

import dwell.solver.cd.contract.CdSolver
import dwell.solver.cd.jvm.{JvmCd, WorkerStates}

/** The solver of coordinate descent without native code. */
class JvmCdSuite extends CdSolverTests with DualSolverTests {
  override protected val solver: CdSolver = new JvmCd(new WorkerStates())
}
