package dwell.fit

import org.apache.spark.internal.Logging

import dwell.jni.{NativeLoader, NativeUnavailableException}
import dwell.solver.cd.contract.LocalSolver
import dwell.solver.cd.jvm.JvmSolver
import dwell.solver.cd.worker.NativeSolver

/**
 * Which local solver a worker uses. Travels with the round, and is resolved by the JVM that runs it: workers whose
 * library cannot load may stand beside others whose library can: see [[LocalSolver]] on how alike their results are.
 *
 * @param choice
 *   one of [[SolverSelection.choices]]
 * @param fallbackIsError
 *   whether `auto` fails where the native library cannot load, instead of using the JVM solver after one WARN
 */
final case class SolverSelection(choice: String, fallbackIsError: Boolean) {
  require(
    SolverSelection.choices.contains(choice),
    s"the local solver must be one of ${SolverSelection.choices.mkString(", ")}, not '$choice'")

  /**
   * The solver of this JVM.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if only the native solver will do and its library cannot load
   */
  def solver(): LocalSolver = choice match {
    case SolverSelection.Jvm => JvmSolver.shared
    case SolverSelection.Auto if !fallbackIsError => SolverSelection.nativeOrJvm
    case _ => SolverSelection.native()
  }

  /**
   * Why what only the native solver does cannot be done here, if it cannot.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if only the native solver will do and its library cannot load
   */
  def withoutNative: Option[String] = choice match {
    case SolverSelection.Jvm => Some("there is no solver for it in the JVM, which was asked for")
    case SolverSelection.Auto =>
      try {
        SolverSelection.native()
        None
      } catch {
        case e: NativeUnavailableException => Some(e.getMessage)
      }
    case _ =>
      SolverSelection.native()
      None
  }
}

object SolverSelection extends Logging {
  private val Auto = "auto"
  private val Jvm = "jvm"

  /** What may be chosen; the first is the default. */
  val choices: Seq[String] = Seq(Auto, "native", Jvm)

  /** The solvers that may hold state in this JVM. */
  def loaded: Seq[LocalSolver] = Seq(JvmSolver.shared) ++ (if (NativeLoader.isLoaded) Some(NativeSolver) else None)

  /** @throws dwell.jni.NativeUnavailableException if its library cannot load */
  private[dwell] def native(): LocalSolver = {
    NativeLoader.ensureLoaded()
    announced
    NativeSolver
  }

  /** One line in the log of each executor, with version, build and place of the library. */
  private lazy val announced: Unit = logInfo(NativeLoader.description())

  /** Settled once per JVM: a solver that changed between two rounds would not find the states of the other. */
  private lazy val nativeOrJvm: LocalSolver =
    try native()
    catch {
      case e: NativeUnavailableException =>
        logWarning("Training continues with the JVM solver, which gives the same model, but slower. " + e.getMessage)
        JvmSolver.shared
    }
}
