package dwell.spark

import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging

import dwell.jni.{NativeBridge, NativeLoader, NativeUnavailableException}

/** The native library in this JVM, and what to do in a fit that cannot have it. */
private[dwell] object NativeLibrary extends Logging {

  /**
   * Loads the library, unless it is loaded. A later call tries again what has failed.
   *
   * @throws dwell.jni.NativeUnavailableException
   *   if it cannot load; the message names the executor, if this is one, the cause and the fix
   */
  def require(): Unit = {
    try NativeLoader.ensureLoaded()
    catch {
      case e: NativeUnavailableException =>
        throw executor.fold(e)(id => new NativeUnavailableException(s"On executor $id: ${e.getMessage}", e))
    }
    announced
  }

  /** Why this JVM cannot load the library; None if it can. */
  def missing: Option[String] = orMissing {
    require()
    Right(())
  }.left.toOption

  /** The result of a fit, or why the library could not load, here or on an executor. */
  def orMissing[T](fit: => Either[String, T]): Either[String, T] =
    try fit
    catch {
      case e: NativeUnavailableException =>
        lastMissing = e.getMessage
        Left(e.getMessage)
    }

  /** Whether a fit could not have the library for this reason, which is then the same for the next one. */
  def isMissingFor(reason: String): Boolean = reason == lastMissing

  @volatile private var lastMissing = ""

  /** The version of the jar; empty where it does not tell, as one that was put together anew. */
  def version: String =
    try NativeLoader.version()
    catch { case _: NativeUnavailableException => "" }

  /** Frees the worker states of a fit for good, of every family of solvers: its late tasks find none. */
  def free(fit: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.freeFit(fit)

  /** Frees the worker states that no call has touched for longer than `maxAgeMillis`. */
  def expire(maxAgeMillis: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.expire(maxAgeMillis)

  private def executor: Option[String] =
    Option(SparkEnv.get).filterNot(_.blockManager.blockManagerId.isDriver).map(_.executorId)

  /** Writes one line to the log of each executor, with version, build and path of the library. */
  private lazy val announced: Unit = logInfo(NativeLoader.description())
}
