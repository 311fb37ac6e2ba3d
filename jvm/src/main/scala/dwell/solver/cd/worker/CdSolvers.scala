package dwell.solver.cd.worker

import dwell.fit.{Backend, SolverSelection}
import dwell.jni.{NativeLoader, NativeUnavailableException}
import dwell.solver.cd.contract.CdSolver
import dwell.solver.cd.jvm.JvmCd

/** The local solvers of this JVM. */
private[dwell] object CdSolvers {

  /**
   * The local solver of a selection.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if the selection needs the native library and it cannot load
   */
  def of(selection: SolverSelection): CdSolver = selection.backend() match {
    case Backend.Native => NativeCd
    case Backend.Jvm => JvmCd.shared
  }

  /**
   * The local solver for work that keeps no state. The library need not load here: both solvers give the same bits.
   */
  def stateless(selection: SolverSelection): CdSolver =
    try of(selection)
    catch { case _: NativeUnavailableException => JvmCd.shared }

  /** The solvers that may hold state in this JVM. */
  def loaded: Seq[CdSolver] = Seq(JvmCd.shared) ++ (if (NativeLoader.isLoaded) Some(NativeCd) else None)

  /** Frees the states of a fit in all solvers of this JVM. */
  def free(fit: Long): Unit = {
    MarginSlices.free(fit)
    loaded.foreach(_.free(fit))
  }
}
