package dwell.jni;

/** A fault inside the native library. Wrong arguments are an {@link IllegalArgumentException} instead. */
public final class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The solver failed for another reason than the ones below. */
  public static final int SOLVER = 1;

  /** Native memory could not be allocated; nothing was changed. */
  public static final int OUT_OF_MEMORY = 2;

  /** Native code panicked: a bug, or arrays that were changed while a call read them. */
  public static final int PANIC = 3;

  /** The JVM refused a JNI operation. */
  public static final int JNI = 4;

  private final int code;

  /** A fault of the kind {@code code}, one of the constants of this class. */
  public NativeException(int code, String message) {
    super(message);
    this.code = code;
  }

  /** The kind of the fault: one of the constants of this class. */
  public int code() {
    return code;
  }
}
