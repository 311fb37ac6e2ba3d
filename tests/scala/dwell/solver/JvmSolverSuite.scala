package dwell.solver

/** The solver without native code. */
class JvmSolverSuite extends LocalSolverTests with DualSolverTests {
  override protected val solver: LocalSolver = new JvmSolver(new WorkerStates())
}
