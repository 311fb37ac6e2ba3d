package dwell.solver.sgd.worker

import dwell.fit.Backend
import dwell.solver.sgd.contract.SgdSolver
import dwell.solver.sgd.jvm.JvmSgd

/** The local solvers of this JVM. */
private[solver] object SgdSolvers {

  /** The local solver of an implementation. */
  def of(backend: Backend): SgdSolver = backend match {
    case Backend.Native => NativeSgd
    case Backend.Jvm => JvmSgd
  }
}
