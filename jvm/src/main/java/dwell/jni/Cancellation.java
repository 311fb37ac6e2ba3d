package dwell.jni;

/** Asked by native code, between slices of a few milliseconds, whether the caller still wants the result. */
public interface Cancellation {

  /** A call that is never cancelled. */
  Cancellation NEVER = () -> false;

  /**
   * Called on the thread that made the native call, while no array is pinned. An exception thrown here ends the native
   * call and reaches its caller.
   *
   * @return true to end the call with a {@link java.util.concurrent.CancellationException}
   */
  boolean requested();
}
