package dwell.jni;

/**
 * Layout of {@code control} and {@code settings} of {@link NativeBridge#networkDescend}. Of the slots of {@link SgdLayout} a result has
 * {@link SgdLayout#LOSS_SUM}, each loss before the step of its batch, {@link SgdLayout#WEIGHT_SUM}, {@link SgdLayout#DIVERGED},
 * {@link SgdLayout#ROWS} and {@link SgdLayout#CURSOR}.
 *
 * <p>{@code native/jni/src/rows/network_layout.rs} has the same constants; {@code native/jni/tests/layouts.rs} compares them.
 */
public final class NetworkLayout {

  /** Largest number of layers of a network. */
  public static final int MAX_LAYERS = 1024;

  // control: longs.

  /** {@link NativeBridge#NETWORK_LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** Number of the partition, at least 0. It decides the order of the rows. */
  public static final int CONTROL_PARTITION = 1;

  /** Seed of the order of the rows. */
  public static final int CONTROL_SEED = 2;

  /** Number of rows to visit, at least 1. A descent visits whole buckets until it has as many. */
  public static final int CONTROL_BUDGET = 3;

  /** Number of buckets of rows visited since the start of the fit. */
  public static final int CONTROL_CURSOR = 4;

  /** Number of rows of a step, at least 1; all rows where there are fewer. */
  public static final int CONTROL_BATCH = 5;

  /** Number of threads, 1 to 256, which sum parts of a batch. The rounding of the result depends on it, not on the cores. */
  public static final int CONTROL_THREADS = 6;

  /** First of 2 to {@link #MAX_LAYERS} sizes: features, the units of each hidden layer, classes. */
  public static final int CONTROL_LAYERS = 7;

  // settings: doubles.

  /** Step size, finite and at least 0. With 0 a descent measures losses. */
  public static final int SETTING_STEP = 0;

  /** The share, 0 to 1, that multiplies the weights that are reached. */
  public static final int SETTING_SHARE = 1;

  /** Length of {@code settings}. */
  public static final int SETTING_SLOTS = 2;

  private NetworkLayout() {}

  /** The control of a call. */
  public static long[] control(int partition, long seed, long budget, long cursor, int batch, int threads, int[] layers) {
    long[] control = new long[CONTROL_LAYERS + layers.length];
    control[CONTROL_VERSION] = NativeBridge.NETWORK_LAYOUT_VERSION;
    control[CONTROL_PARTITION] = partition;
    control[CONTROL_SEED] = seed;
    control[CONTROL_BUDGET] = budget;
    control[CONTROL_CURSOR] = cursor;
    control[CONTROL_BATCH] = batch;
    control[CONTROL_THREADS] = threads;
    for (int l = 0; l < layers.length; l++) {
      control[CONTROL_LAYERS + l] = layers[l];
    }
    return control;
  }
}
