package dwell.solver.cd

import dwell.solver.cd.contract.LocalSolver
import dwell.solver.cd.jvm.{JvmSolver, WorkerStates}

/** The solver without native code. */
class JvmSolverSuite extends LocalSolverTests with DualSolverTests {
  override protected val solver: LocalSolver = new JvmSolver(new WorkerStates())
}
