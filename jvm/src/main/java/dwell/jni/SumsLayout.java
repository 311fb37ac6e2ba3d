package dwell.jni;

/** The numbers of a feature in the sums of {@link NativeBridge#featureSums}, over rows with a nonzero x and a weight s. */
public final class SumsLayout {

  /** The number of nonzeros. */
  public static final int COUNT = 0;

  /** The sum of their weights. */
  public static final int WEIGHT = 1;

  /** The first nonzero, c. */
  public static final int FIRST = 2;

  /** The sum of s (x - c). */
  public static final int DIFFERENCES = 3;

  /** The sum of s (x - c) (x - c). */
  public static final int SQUARES = 4;

  /** The sum of s x over rows with a positive label. */
  public static final int POSITIVE = 5;

  /** The width of the nonzeros: 0 if all are 1, 1 if floats hold them exactly, 2 otherwise. */
  public static final int WIDTH = 6;

  /** Numbers of a feature. */
  public static final int SUMS = 7;

  private SumsLayout() {}
}
