package dwell.fit

import org.apache.spark.internal.Logging

import dwell.jni.{NativeLoader, NativeUnavailableException}

/**
 * Which implementation of the local solvers a worker uses. The selection travels with the round, and the JVM that runs the
 * round resolves it: a worker whose library cannot load may stand beside one whose library can.
 *
 * @param choice
 *   one of [[SolverSelection.choices]]
 * @param fallbackIsError
 *   whether `auto` fails where the native library cannot load, instead of using the JVM solvers after one WARN
 */
final case class SolverSelection(choice: String, fallbackIsError: Boolean) {
  require(
    SolverSelection.choices.contains(choice),
    s"the local solver must be one of ${SolverSelection.choices.mkString(", ")}, not '$choice'")

  /**
   * The implementation that this JVM runs.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if only the native solvers will do and their library cannot load
   */
  def backend(): Backend = choice match {
    case SolverSelection.Jvm => Backend.Jvm
    case SolverSelection.Auto if !fallbackIsError => SolverSelection.nativeOrJvm
    case _ =>
      SolverSelection.requireNative()
      Backend.Native
  }

  /**
   * The reason why this JVM cannot do what only the native solvers do; None where it can.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if only the native solvers will do and their library cannot load
   */
  def withoutNative: Option[String] = choice match {
    case SolverSelection.Jvm => Some("there is no solver for it in the JVM, which was asked for")
    case SolverSelection.Auto =>
      try {
        SolverSelection.requireNative()
        None
      } catch {
        case e: NativeUnavailableException => Some(e.getMessage)
      }
    case _ =>
      SolverSelection.requireNative()
      None
  }
}

object SolverSelection extends Logging {
  private val Auto = "auto"
  private val Jvm = "jvm"

  /** What may be chosen; the first is the default. */
  val choices: Seq[String] = Seq(Auto, "native", Jvm)

  /**
   * Loads the native library.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if it cannot load
   */
  private[dwell] def requireNative(): Unit = {
    NativeLoader.ensureLoaded()
    announced
  }

  /** One line in the log of each executor, with version, build and place of the library. */
  private lazy val announced: Unit = logInfo(NativeLoader.description())

  /** Settled once per JVM: a solver that changed between two rounds would not find the states of the other. */
  private lazy val nativeOrJvm: Backend =
    try {
      requireNative()
      Backend.Native
    } catch {
      case e: NativeUnavailableException =>
        logWarning("Training continues with the JVM solver, which gives the same model, but slower. " + e.getMessage)
        Backend.Jvm
    }
}
