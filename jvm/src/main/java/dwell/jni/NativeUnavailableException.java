package dwell.jni;

/** The native library cannot be used on this JVM. The message is one line and names the fix. */
public final class NativeUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A reason without a cause. */
  public NativeUnavailableException(String message) {
    super(message);
  }

  /** A reason with its cause. */
  public NativeUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
