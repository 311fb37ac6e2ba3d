package dwell.jni;

/**
 * Layout of {@link NativeBridge#margins}.
 *
 * <p>For row j, s is its weight, y its label, a its entry of {@code margins}, u of {@code update}, d of {@code direction}, and l the
 * loss at the margin z = a + intercept.
 *
 * <p>{@code native/jni/src/cd/margins/layout.rs} takes its constants from this file.
 */
public final class MarginLayout {

  // control: longs.

  /** {@link NativeBridge#MARGIN_LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** One of the operations below. */
  public static final int CONTROL_OPERATION = 1;

  /** Loss: 0 squared, 1 logistic, 3 smoothed hinge, 4 squared hinge. */
  public static final int CONTROL_LOSS = 2;

  /** Number of threads, at least 1. It does not change the results. */
  public static final int CONTROL_THREADS = 3;

  /** Length of {@code control}. */
  public static final int CONTROL_SLOTS = 4;

  // Operations.

  /** Writes {@code residuals}: -l'(z) divided by the largest second derivative of the loss. */
  public static final long RESIDUALS = 0;

  /** Writes {@code losses}: l(z). Sums: {@link #LOSS}, {@link #SLOPE_SQUARES}, {@link #SLOPE_LABELS}. */
  public static final long LOSSES = 1;

  /** Sums: {@link #SLOPE}, {@link #SLOPE_SIZES}, {@link #CURVE}. */
  public static final long SLOPES = 2;

  /**
   * At z + g1 u + g2 d, where g1 and g2 are the operation's numbers. Sums: {@link #CHANGE}, {@link #SLOPE1}, {@link #SLOPE2},
   * {@link #CURVE11}, {@link #CURVE12}, {@link #CURVE22}.
   */
  public static final long ALONG = 3;

  /** Sums: {@link #CONJUGATE1}, {@link #CONJUGATE2}. */
  public static final long CONJUGATES = 4;

  /** Writes {@code direction}, g1 u + g2 d with the operation's numbers, and adds it to {@code margins}. */
  public static final long MOVE = 5;

  // settings: doubles.

  /** Width of the smoothed hinge; read for that loss only. */
  public static final int SETTING_GAMMA = 0;

  /** Intercept, finite. */
  public static final int SETTING_INTERCEPT = 1;

  /** The operation's first number, finite; read if it has one. */
  public static final int SETTING_FIRST = 2;

  /** The operation's second number, finite; read if it has one. */
  public static final int SETTING_SECOND = 3;

  /** Length of {@code settings}. */
  public static final int SETTING_SLOTS = 4;

  // sums of LOSSES.

  /** Sum of s l. */
  public static final int LOSS = 0;

  /** Sum of s l'^2. */
  public static final int SLOPE_SQUARES = 1;

  /** Sum of s l' y. */
  public static final int SLOPE_LABELS = 2;

  // sums of SLOPES.

  /** Sum of s l'. */
  public static final int SLOPE = 0;

  /** Sum of s |l'|. */
  public static final int SLOPE_SIZES = 1;

  /** Sum of s l''. */
  public static final int CURVE = 2;

  // sums of ALONG.

  /** Sum of s times the difference of the loss and {@code losses}. */
  public static final int CHANGE = 0;

  /** Sum of s l' u. */
  public static final int SLOPE1 = 1;

  /** Sum of s l' d. */
  public static final int SLOPE2 = 2;

  /** Sum of s l'' u^2. */
  public static final int CURVE11 = 3;

  /** Sum of s l'' u d. */
  public static final int CURVE12 = 4;

  /** Sum of s l'' d^2. */
  public static final int CURVE22 = 5;

  // sums of CONJUGATES: l* is infinite outside its domain.

  /** Sum of s l*(-rho l'(z)) with the operation's first number for rho. */
  public static final int CONJUGATE1 = 0;

  /** The same with the second number. */
  public static final int CONJUGATE2 = 1;

  /** Length of {@code sums}. */
  public static final int SUMS = 6;

  /** Rows whose terms are added before any other sum is taken. The sums of blocks are added in order. */
  public static final int BLOCK = 4096;

  private MarginLayout() {}
}
