package dwell.fit

import dwell.jni.{NativeBridge, NativeLoader}

/** The worker states that the native library holds in this JVM, for every family of solvers. */
private[dwell] object NativeStates {

  /** Frees the states of a fit for good: its late tasks find none. */
  def free(fit: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.freeFit(fit)

  /** Frees the states that no call has touched for longer than `maxAgeMillis`. */
  def expire(maxAgeMillis: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.expire(maxAgeMillis)
}
