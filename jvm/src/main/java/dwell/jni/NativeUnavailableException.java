package dwell.jni;

/** The native library cannot be used on this JVM. The message is one line and names the fix. */
public final class NativeUnavailableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public NativeUnavailableException(String message) {
    super(message);
  }

  public NativeUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
