package dwell.jni;

/**
 * Layout of a pass over rows: {@code control} of {@link NativeBridge#passBegin}, and the result of
 * {@link NativeBridge#passEnd}. {@link ResultHeader} names the slots that all results share; {@link NativeBridge} defines the flags.
 *
 * <p>With p features a row has n entries: its features less the centre, x~, and 1 with {@link NativeBridge#PASS_INTERCEPT}. Below, s is
 * the weight of a row. The loss has C outputs; a model has n numbers for each of them, one output after the other. A loss with a scale has
 * it as the last number of its model, and the last of the n entries of a row is then a, the row's clipped error over the scale. The vector of a
 * result has n numbers for each output: sum of s loss' x~, the gradient; by a scale, sum of s (1 - a^2) / 2. If moments or the Hessian are asked
 * for, it then has
 * <ul>
 * <li>p numbers: sum of s x~, and p numbers: sum of s x~^2, over features only,</li>
 * <li>for each pair of outputs (a, b) with b at most a, in the order (0, 0), (1, 0), (1, 1), (2, 0), n (n + 1) / 2 numbers: the lower
 * triangle of the sum of s loss'' x~ x~^T, row by row, with the derivative by the predictions of a and b.</li>
 * </ul>
 * What was not asked for is 0.
 *
 * <p>The result of a pass of a network has {@link #LOSS_SUM} and {@link #ROWS}, and its vector is the gradient, in the order of the weights.
 *
 * <p>{@code native/jni/src/pass/layout.rs} takes its constants from this file.
 */
public final class PassLayout {

  // control: longs.

  /** {@link NativeBridge#PASS_LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** Loss, as {@link CdLayout#CONTROL_LOSS}. */
  public static final int CONTROL_LOSS = 1;

  /** Sum of flags: those of {@link NativeBridge} that begin with PASS. */
  public static final int CONTROL_FLAGS = 2;

  /** Outputs of the loss. */
  public static final int CONTROL_OUTPUTS = 3;

  /** The number of a loss that has one, as {@link Double#doubleToRawLongBits}: gamma of the smoothed hinge, epsilon of Huber's loss. */
  public static final int CONTROL_PARAMETER = 4;

  /** Features of a row, p. */
  public static final int CONTROL_FEATURES = 5;

  /** Length of {@code control}. */
  public static final int CONTROL_SLOTS = 6;

  // Slots of a result.

  /** Sum of s loss. */
  public static final int LOSS_SUM = 0;

  /** Largest sum over the entries of a row of |entry| reach; of several outputs the two largest sums of a row count, added up. */
  public static final int REACH = 1;

  /** Number of rows. */
  public static final int ROWS = 2;

  /** Of losses of two classes, for labels -1 and 1: sum of s |loss'|. */
  public static final int SLOPES = 9;

  /** The same of s loss'^2. */
  public static final int SLOPE_SQUARES = 11;

  /** With {@link NativeBridge#PASS_PROXIMAL}: sum of s max(0, 1 - yz). */
  public static final int HINGE_SUM = 13;

  /** First of the sums of s loss at the steps. */
  public static final int LOSSES = 16;

  /** Largest number of steps. */
  public static final int MAX_STEPS = 32;

  private PassLayout() {}

  /** The control of a pass. */
  public static long[] control(int loss, int outputs, long flags, double parameter, int features) {
    return new long[] {
        NativeBridge.PASS_LAYOUT_VERSION, loss, flags, outputs, Double.doubleToRawLongBits(parameter), features};
  }

  /**
   * Number of entries of a vector with moments or a Hessian.
   *
   * @param more
   *   entries of a row after its features: 1 for an intercept, and 1 for a scale
   * @throws IllegalArgumentException
   *   if a result cannot hold them
   */
  public static int entries(int features, int more, int outputs) {
    long n = (long) features + more;
    long pairs = outputs * (outputs + 1L) / 2;
    double entries = outputs * (double) n + 2.0 * features + pairs * (n * (n + 1) / 2.0);
    if (entries > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException("the sums of a pass over " + features + " features and " + outputs + " outputs have "
          + (long) entries + " entries, but at most " + ResultHeader.MAX_ENTRIES + " fit into an array");
    }
    return (int) entries;
  }

  /** Where the triangles begin in a vector. */
  public static int triangles(int features, int more, int outputs) {
    return outputs * (features + more) + 2 * features;
  }

  /** Length of a result with moments or a Hessian, in bytes. */
  public static int length(int features, int more, int outputs) {
    return ResultHeader.length(entries(features, more, outputs));
  }
}
