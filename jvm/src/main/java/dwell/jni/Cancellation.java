package dwell.jni;

/** Tells native code whether the caller still wants the result. Native code asks every few milliseconds. */
public interface Cancellation {

  /** A call that is never cancelled. */
  Cancellation NEVER = () -> false;

  /**
   * Native code calls this on the thread of the call, while no array is pinned. An exception thrown here ends the call and
   * reaches its caller.
   *
   * @return true to end the call with a {@link java.util.concurrent.CancellationException}
   */
  boolean requested();
}
