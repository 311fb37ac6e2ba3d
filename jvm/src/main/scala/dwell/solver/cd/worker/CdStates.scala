package dwell.solver.cd.worker

import dwell.comm.ModelStore
import dwell.spark.NativeLibrary

/** What coordinate descent keeps in this JVM between exchanges: worker states and slices of rows. */
private[dwell] object CdStates {

  /** Frees all that a fit has left. */
  def free(fit: Long): Unit = {
    MarginSlices.free(fit)
    NativeLibrary.free(fit)
  }

  /** Frees all that no call has used for a long time, because its driver is gone. */
  private[worker] def expire(): Unit = {
    MarginSlices.expire(ModelStore.AbandonedMillis)
    NativeLibrary.expire(ModelStore.AbandonedMillis)
  }
}
