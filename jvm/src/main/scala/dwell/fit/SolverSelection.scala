package dwell.fit

import org.apache.spark.internal.Logging

import dwell.jni.{NativeLoader, NativeUnavailableException}

/**
 * The choice of the local solvers' implementation. The selection travels with the round, and the JVM that runs the
 * round resolves it, because the library may load on some workers only.
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
   *   if the choice requires the native solvers and their library cannot load
   */
  def backend(): Backend = choice match {
    case SolverSelection.Jvm => Backend.Jvm
    case SolverSelection.Auto if !fallbackIsError => SolverSelection.nativeOrJvm
    case _ =>
      SolverSelection.requireNative()
      Backend.Native
  }

  /**
   * The reason why this JVM cannot run a solver that exists only in native code; None if it can.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if the choice is `native` and the library cannot load
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

/** The choices, and the state of the native library in this JVM. */
object SolverSelection extends Logging {
  private val Auto = "auto"
  private val Jvm = "jvm"

  /** The names that a user may set. The first is the default. */
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

  /** Writes one line to the log of each executor, with version, build and path of the library. */
  private lazy val announced: Unit = logInfo(NativeLoader.description())

  /** Decided once per JVM: a solver that changed between two rounds would not find the states of the other solver. */
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
