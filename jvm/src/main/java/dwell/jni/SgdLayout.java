package dwell.jni;

/**
 * Layout of the calls of model averaging: the model, and {@code control}, {@code settings} and the result of
 * {@link NativeBridge#sgdDescend} and {@link NativeBridge#sgdSearch}. {@link ResultHeader} names the slots that all results share;
 * {@link NativeBridge} defines the flags.
 *
 * <p>A model has C (d + 1) doubles for d features and C outputs: number j C + c is the coefficient of feature j and output c, number
 * d C + c the intercept of output c, 0 without an intercept. The vector of a result has the layout of a model. Below, s_i is the
 * weight of row i, w_jc a coefficient, and u_j = 1 / sqrt(scale_j).
 *
 * <p>{@code native/jni/src/rows/layout.rs} takes its constants from this file.
 */
public final class SgdLayout {

  // control: longs.

  /** {@link NativeBridge#SGD_LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** Number of the partition, at least 0. It decides the order of the rows. */
  public static final int CONTROL_PARTITION = 1;

  /** Seed of the order of the rows. */
  public static final int CONTROL_SEED = 2;

  /** d, the number of features. */
  public static final int CONTROL_FEATURES = 3;

  /** Loss: as {@link CdLayout#CONTROL_LOSS}, or 5 for softmax. */
  public static final int CONTROL_LOSS = 4;

  /** C, the number of outputs: 1; with softmax the number of classes, at least 2. */
  public static final int CONTROL_OUTPUTS = 5;

  /** Sum of {@link NativeBridge#SGD_INTERCEPT} and {@link NativeBridge#SGD_CLASSES}, or 0. */
  public static final int CONTROL_FLAGS = 6;

  /**
   * Number of rows to visit, at least 1. A descent visits whole buckets until it has as many. A search makes steps on exactly as many
   * rows and computes the losses of as many others; if the partition has fewer than twice as many, it takes half of its rows for each,
   * at least 1.
   */
  public static final int CONTROL_BUDGET = 7;

  /** Number of buckets of rows visited since the start of the fit. */
  public static final int CONTROL_CURSOR = 8;

  /** t, the number of rows visited since the start of the fit. */
  public static final int CONTROL_STEPS = 9;

  /** Schedule of the step size eta: 0 eta0; 1 eta0 / sqrt(1 + rate t); 2 eta0 / (1 + rate eta0 t). */
  public static final int CONTROL_SCHEDULE = 10;

  /**
   * T, the number of threads, 1 to 256. A descent makes steps on T copies of the model and returns their mean, so another T gives another
   * model; the same T gives the same model on every machine. A search has one thread.
   */
  public static final int CONTROL_THREADS = 11;

  /** Length of {@code control}. */
  public static final int CONTROL_SLOTS = 12;

  // settings: 7 doubles; more in a search.

  /** Width of the smoothed hinge's parabola, positive; only that loss reads it. */
  public static final int SETTING_GAMMA = 0;

  /** L1 penalty, at least 0. */
  public static final int SETTING_L1 = 1;

  /** L2 penalty, at least 0. */
  public static final int SETTING_L2 = 2;

  /** Weight factor, positive: the number of all rows over the sum of their weights. */
  public static final int SETTING_WEIGHT_FACTOR = 3;

  /** eta0, positive and less than 1 / l2. Only a descent reads it. */
  public static final int SETTING_ETA0 = 4;

  /** rate, at least 0. */
  public static final int SETTING_RATE = 5;

  /** Descent: the share, 0 to 1, that multiplies the model that it reaches. */
  public static final int SETTING_SHARE = 6;

  /** Number of settings of every call; a descent has no more. */
  public static final int SETTING_SLOTS = 7;

  /** Search: first of the values of eta0 to try, 1 to {@link #MAX_CANDIDATES}. */
  public static final int SETTING_CANDIDATES = 7;

  /** Largest number of values of eta0 that a search tries. */
  public static final int MAX_CANDIDATES = 24;

  // Slots of a result.

  /** Sum of s_i loss over the rows visited, each before its step; infinite if a descent diverged; 0 in a search. */
  public static final int LOSS_SUM = 0;

  /** Sum of the weights of the rows in {@link #LOSS_SUM}, or in the objectives of a search. */
  public static final int WEIGHT_SUM = 1;

  /** Sum of u_j |w_jc| of the shared model. */
  public static final int L1_NORM = 2;

  /** Sum of u_j^2 w_jc^2 of the shared model. */
  public static final int SQUARE_NORM = 3;

  /**
   * 1 if a prediction, a loss, a derivative or an entry of the result was not finite, else 0; always 0 in a search. If it is 1, the
   * vector of a descent is that of a descent that visits no row.
   */
  public static final int DIVERGED = 4;

  /** Number of rows visited. */
  public static final int ROWS = 5;

  /** Cursor after the call. Only a descent moves it. */
  public static final int CURSOR = 9;

  /** Steps after the call. Only a descent moves them. */
  public static final int STEPS = 10;

  /** Descent: {@link #L1_NORM} of the vector before the share multiplies it. */
  public static final int REACHED_L1_NORM = 11;

  /** Descent: {@link #SQUARE_NORM} of the vector before the share multiplies it. */
  public static final int REACHED_SQUARE_NORM = 12;

  /**
   * Descent: number of factors, 0 to {@link #MAX_FACTORS}. 0 with an L1 penalty or several threads (unless the descent diverged), and if
   * more than {@link #MAX_FACTORS} would be needed.
   */
  public static final int FACTORS = 13;

  /**
   * Descent: first of the factors. If no visited row has feature j, its coefficients in the vector are the shared ones times each
   * factor in turn, rounded after each product. The last factor is the share.
   */
  public static final int FACTOR = 14;

  /** Largest number of factors: a coefficient that needs more is nearly 0. */
  public static final int MAX_FACTORS = 24;

  /**
   * Search: first of the objectives, one for each candidate: the mean loss of the rows that follow the rows of its steps, plus the penalty, at
   * the model that it reached; infinite if it diverged.
   */
  public static final int OBJECTIVES = 14;

  private SgdLayout() {}

  /** The factors of a descent. */
  public static double[] factors(byte[] result) {
    double[] factors = new double[(int) ResultHeader.get(result, FACTORS)];
    for (int k = 0; k < factors.length; k++) {
      factors[k] = ResultHeader.get(result, FACTOR + k);
    }
    return factors;
  }

  /**
   * Length of a model, in doubles.
   *
   * @throws IllegalArgumentException
   *   if a result cannot hold them
   */
  public static int entries(int features, int outputs) {
    long entries = outputs * (features + 1L);
    if (entries > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException("a model of " + features + " features and " + outputs + " outputs has " + entries
          + " entries, but at most " + ResultHeader.MAX_ENTRIES + " fit into an array");
    }
    return (int) entries;
  }

  /** Length of a result with a vector, in bytes. */
  public static int length(int features, int outputs) {
    return ResultHeader.length(entries(features, outputs));
  }

  /** A result of zeros with a vector. */
  public static byte[] allocate(int features, int outputs) {
    return new byte[length(features, outputs)];
  }

  /** The control of a call. */
  public static long[] control(int partition, long seed, int features, int loss, int outputs, long flags, long budget, long cursor,
      long steps, int schedule, int threads) {
    long[] control = new long[CONTROL_SLOTS];
    control[CONTROL_VERSION] = NativeBridge.SGD_LAYOUT_VERSION;
    control[CONTROL_PARTITION] = partition;
    control[CONTROL_SEED] = seed;
    control[CONTROL_FEATURES] = features;
    control[CONTROL_LOSS] = loss;
    control[CONTROL_OUTPUTS] = outputs;
    control[CONTROL_FLAGS] = flags;
    control[CONTROL_BUDGET] = budget;
    control[CONTROL_CURSOR] = cursor;
    control[CONTROL_STEPS] = steps;
    control[CONTROL_SCHEDULE] = schedule;
    control[CONTROL_THREADS] = threads;
    return control;
  }

  /** The settings of a descent. */
  public static double[] descent(double gamma, double l1, double l2, double weightFactor, double eta0, double rate, double share) {
    double[] settings = settings(gamma, l1, l2, weightFactor, rate, 0);
    settings[SETTING_ETA0] = eta0;
    settings[SETTING_SHARE] = share;
    return settings;
  }

  /** The settings of a search. */
  public static double[] search(double gamma, double l1, double l2, double weightFactor, double rate, double[] candidates) {
    double[] settings = settings(gamma, l1, l2, weightFactor, rate, candidates.length);
    System.arraycopy(candidates, 0, settings, SETTING_CANDIDATES, candidates.length);
    return settings;
  }

  private static double[] settings(double gamma, double l1, double l2, double weightFactor, double rate, int more) {
    double[] settings = new double[SETTING_SLOTS + more];
    settings[SETTING_GAMMA] = gamma;
    settings[SETTING_L1] = l1;
    settings[SETTING_L2] = l2;
    settings[SETTING_WEIGHT_FACTOR] = weightFactor;
    settings[SETTING_RATE] = rate;
    return settings;
  }
}
