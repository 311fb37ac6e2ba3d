package dwell.jni;

/**
 * Layout of the calls of coordinate descent: {@code control}, {@code settings} and the result of {@link NativeBridge#primalRound},
 * {@link NativeBridge#primalProduct}, {@link NativeBridge#dualRound} and {@link NativeBridge#dualProduct}. {@link ResultHeader}
 * names the slots that all results share; {@link NativeBridge} defines the flags.
 *
 * <p>Below, n is the number of coordinates (columns in a primal call, rows in a dual one), m the length of the shared vector, s_i
 * the weight of row i and S the sum of the weights of all rows. The <b>value</b> is the separable part of the objective that is
 * minimised: the penalty in primal calls, the sum of the conjugates (s_i / S) loss*(-alpha_i) in dual ones.
 *
 * <p>{@code native/jni/src/cd/layout.rs} takes its constants from this file.
 */
public final class CdLayout {

  // control: longs.

  /** {@link NativeBridge#LAYOUT_VERSION}. */
  public static final int CONTROL_VERSION = 0;

  /** Number of the fit. */
  public static final int CONTROL_FIT = 1;

  /** Number of the partition, at least 0. It also decides the order of the coordinates. */
  public static final int CONTROL_PARTITION = 2;

  /** Round t, from 0 on. */
  public static final int CONTROL_ROUND = 3;

  /** Seed of the order of the coordinates. */
  public static final int CONTROL_SEED = 4;

  /** Least number of coordinates to visit, at least 1. */
  public static final int CONTROL_BUDGET = 5;

  /**
   * Sum of flags: {@link NativeBridge#CERTIFICATE}, and in primal calls {@link NativeBridge#CENTRED}, in dual ones {@link NativeBridge#CLASSES}.
   */
  public static final int CONTROL_FLAGS = 6;

  /**
   * T, the number of threads, 1 to 256. The solver makes steps on T copies of the shared vector, so another T gives another step;
   * the same T gives the same step on every machine.
   */
  public static final int CONTROL_THREADS = 7;

  /** m, the length of the shared vector. */
  public static final int CONTROL_VECTOR_LENGTH = 8;

  /**
   * Stamp of the state that the caller expects: 0 from the start of the fit, then the {@link #STAMP} of the last product. Round
   * and stamp together determine the content of a state.
   */
  public static final int CONTROL_STAMP = 9;

  /**
   * Loss: 0 squared, 1 logistic, 2 hinge, 3 smoothed hinge, 4 squared hinge. Always 0 in primal calls, because the residual is all
   * that a round needs of the loss.
   */
  public static final int CONTROL_LOSS = 10;

  /** Length of {@code control}. */
  public static final int CONTROL_SLOTS = 11;

  // settings of a primal call: 7 + 2 P doubles.

  /** sigma', the weight of the quadratic term of the local model. */
  public static final int PRIMAL_SIGMA_PRIME = 0;

  /** L1 penalty. */
  public static final int PRIMAL_L1 = 1;

  /** L2 penalty. */
  public static final int PRIMAL_L2 = 2;

  /** S. */
  public static final int PRIMAL_TOTAL_WEIGHT = 3;

  /** Factor on the variances that standardise the penalty; 0 if the penalty is not standardised. */
  public static final int PRIMAL_SCALE_FACTOR = 4;

  /** Verdict on the pending step: the factor with which it is committed. */
  public static final int PRIMAL_PENDING_FACTOR = 5;

  /** Verdict: the factor with which the change of the last commit is added once more. */
  public static final int PRIMAL_PREVIOUS_FACTOR = 6;

  /** First of the P points of the line search, two numbers g1, g2 for each; P is at most {@link #MAX_POINTS}. */
  public static final int PRIMAL_POINTS = 7;

  // settings of a dual call: 9 + J + 2 P doubles.

  /** As {@link #PRIMAL_SIGMA_PRIME}. */
  public static final int DUAL_SIGMA_PRIME = 0;

  /** L2 penalty, positive. */
  public static final int DUAL_L2 = 1;

  /** S. */
  public static final int DUAL_TOTAL_WEIGHT = 2;

  /** Width of the smoothed hinge's parabola, positive; only that loss reads it. */
  public static final int DUAL_GAMMA = 3;

  /** Part of the intercept in the squared norm of every row; 0 without an intercept. */
  public static final int DUAL_INTERCEPT = 4;

  /** The intercept at the start of the round; 0 without an intercept. */
  public static final int DUAL_OFFSET = 5;

  /** As {@link #PRIMAL_PENDING_FACTOR}. */
  public static final int DUAL_PENDING_FACTOR = 6;

  /** As {@link #PRIMAL_PREVIOUS_FACTOR}. */
  public static final int DUAL_PREVIOUS_FACTOR = 7;

  /** J, the number of candidates for the intercept: 0 to {@link #MAX_CANDIDATES}, at least 1 for a certificate. */
  public static final int DUAL_CANDIDATE_COUNT = 8;

  /** First of the J candidates for the intercept. The points of the line search follow the last one. */
  public static final int DUAL_CANDIDATES = 9;

  /** Largest number of points of a line search. */
  public static final int MAX_POINTS = 24;

  /** Largest number of candidates for the intercept. */
  public static final int MAX_CANDIDATES = 16;

  // Slots of a result.

  /** Value at the coordinates that the call started from. */
  public static final int VALUE_BEFORE = 0;

  /** Value after the proposed step; in a product the same as {@link #VALUE_BEFORE}. */
  public static final int VALUE_AFTER = 1;

  /** Primal certificate: sum of the penalty's conjugates. NaN without a certificate, in dual calls and in products. */
  public static final int CONJUGATE = 2;

  /** Primal certificate: greatest ratio of correlation to L1 penalty. NaN if {@link #CONJUGATE} is. */
  public static final int RATIO = 3;

  /** Primal certificate: greatest correlation relative to the norm of a column. NaN if {@link #CONJUGATE} is. */
  public static final int CORRELATION = 4;

  /** Number of coordinates visited. */
  public static final int COORDINATES = 5;

  /** Stamp of the state after the call. */
  public static final int STAMP = 9;

  /**
   * kappa. Primal: sum of mean times step, 0 if not centred. Dual: sum of s_i / (S l2) times step. In a product the coordinates
   * stand for the step.
   */
  public static final int KAPPA = 10;

  // A point (g1, g2) of the line search stands for the change g1 step + g2 previous, where previous is the change of the last commit.
  // There the value changes by SLOPE1 g1 + SLOPE2 g2 + (CURVE11 g1^2 + 2 CURVE12 g1 g2 + CURVE22 g2^2) / 2 + the point's sample.
  // A product has 0 in each of these slots.

  /** Derivative of the quadratic terms of the value along the step. */
  public static final int SLOPE1 = 11;

  /** Derivative of the quadratic terms along the previous step. */
  public static final int SLOPE2 = 12;

  /** Second derivative of the quadratic terms along the step. */
  public static final int CURVE11 = 13;

  /** Mixed second derivative of the quadratic terms along both steps. */
  public static final int CURVE12 = 14;

  /** Second derivative of the quadratic terms along the previous step. */
  public static final int CURVE22 = 15;

  /**
   * First of {@link #MAX_POINTS} samples, one for each point: the change of the terms that are not quadratic, infinite if the point
   * leaves their domain.
   */
  public static final int SAMPLES = 16;

  /**
   * First of {@link #MAX_CANDIDATES} losses, the dual certificate: for each candidate the sum over the rows of (s_i / S) loss at
   * the shared vector.
   */
  public static final int LOSSES = SAMPLES + MAX_POINTS;

  // meta of exportState and importState: longs.

  /** Version: the round that the state is ready for. */
  public static final int META_VERSION = 0;

  /** Stamp of the state. */
  public static final int META_STAMP = 1;

  /** Number of buckets of coordinates visited since the start of the fit. */
  public static final int META_CURSOR = 2;

  /** Number of slots that {@link NativeBridge#importState} reads. */
  public static final int META_IMPORTED = 3;

  /** Round of the pending step; -1 without one. */
  public static final int META_PENDING_ROUND = 3;

  /** Cursor after the pending step; 0 without one. */
  public static final int META_PENDING_CURSOR = 4;

  /** Number of slots that {@link NativeBridge#exportState} writes. */
  public static final int META_SLOTS = 5;

  private CdLayout() {}

  /** The control of a call. */
  public static long[] control(long fit, int partition, long round, long seed, long budget, long flags, int threads, int vectorLength,
      long stamp, int loss) {
    long[] control = new long[CONTROL_SLOTS];
    control[CONTROL_VERSION] = NativeBridge.LAYOUT_VERSION;
    control[CONTROL_FIT] = fit;
    control[CONTROL_PARTITION] = partition;
    control[CONTROL_ROUND] = round;
    control[CONTROL_SEED] = seed;
    control[CONTROL_BUDGET] = budget;
    control[CONTROL_FLAGS] = flags;
    control[CONTROL_THREADS] = threads;
    control[CONTROL_VECTOR_LENGTH] = vectorLength;
    control[CONTROL_STAMP] = stamp;
    control[CONTROL_LOSS] = loss;
    return control;
  }

  /** The settings of a primal call, with two numbers in {@code points} for each point of the line search. */
  public static double[] primalSettings(double sigmaPrime, double l1, double l2, double totalWeight, double scaleFactor,
      double pendingFactor, double previousFactor, double[] points) {
    double[] settings = new double[PRIMAL_POINTS + points.length];
    settings[PRIMAL_SIGMA_PRIME] = sigmaPrime;
    settings[PRIMAL_L1] = l1;
    settings[PRIMAL_L2] = l2;
    settings[PRIMAL_TOTAL_WEIGHT] = totalWeight;
    settings[PRIMAL_SCALE_FACTOR] = scaleFactor;
    settings[PRIMAL_PENDING_FACTOR] = pendingFactor;
    settings[PRIMAL_PREVIOUS_FACTOR] = previousFactor;
    System.arraycopy(points, 0, settings, PRIMAL_POINTS, points.length);
    return settings;
  }

  /** The settings of a dual call, with two numbers in {@code points} for each point of the line search. */
  public static double[] dualSettings(double sigmaPrime, double l2, double totalWeight, double gamma, double intercept, double offset,
      double pendingFactor, double previousFactor, double[] candidates, double[] points) {
    double[] settings = new double[DUAL_CANDIDATES + candidates.length + points.length];
    settings[DUAL_SIGMA_PRIME] = sigmaPrime;
    settings[DUAL_L2] = l2;
    settings[DUAL_TOTAL_WEIGHT] = totalWeight;
    settings[DUAL_GAMMA] = gamma;
    settings[DUAL_INTERCEPT] = intercept;
    settings[DUAL_OFFSET] = offset;
    settings[DUAL_PENDING_FACTOR] = pendingFactor;
    settings[DUAL_PREVIOUS_FACTOR] = previousFactor;
    settings[DUAL_CANDIDATE_COUNT] = candidates.length;
    System.arraycopy(candidates, 0, settings, DUAL_CANDIDATES, candidates.length);
    System.arraycopy(points, 0, settings, DUAL_CANDIDATES + candidates.length, points.length);
    return settings;
  }
}
