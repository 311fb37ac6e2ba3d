package dwell.fit

import dwell.jni.{NativeBridge, NativeLoader}

/** What the native library holds of fits in this JVM, for every family of solvers. */
private[dwell] object NativeStates {

  /** Frees what it holds of a fit and refuses late tasks of it. */
  def free(fit: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.freeFit(fit)

  /** Frees what no call has touched for longer than `maxAgeMillis`. */
  def expire(maxAgeMillis: Long): Unit = if (NativeLoader.isLoaded) NativeBridge.expire(maxAgeMillis)
}
