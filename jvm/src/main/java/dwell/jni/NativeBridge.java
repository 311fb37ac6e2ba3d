package dwell.jni;

/**
 * The functions of the native library. {@link NativeLoader#ensureLoaded()} comes first; a call before it is an
 * {@link UnsatisfiedLinkError}. The package must not be relocated: the library binds these methods by name.
 *
 * <p>Native code keeps one worker state per (fit, partition) and process, as {@code design.md} describes it under
 * rounds: a committed version, and at most one proposed step that is pending until the next message brings its verdict.
 *
 * <h2>Orientations</h2>
 * In a primal call the coordinates of the solver are columns of the data and the shared vector has one number for each row;
 * in a dual call the coordinates are rows and the shared vector has one number for each feature. Below, n is the number of
 * coordinates, m the length of the shared vector and N the number of stored entries.
 *
 * <h2>Arrays of a partition</h2>
 * A sparse matrix, coordinate by coordinate (CSC in a primal call, CSR in a dual one), and what belongs to it. Read, never
 * written; they must not change while a call runs.
 * <table>
 * <caption>Arguments that describe the matrix</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>offsets</td><td>n + 1</td><td>entries of coordinate i are offsets[i] until offsets[i + 1]; offsets[0] = 0, offsets[n] = N</td></tr>
 * <tr><td>rows (dual: features)</td><td>N</td><td>row (feature) of each entry, 0 until m, increasing inside a coordinate</td></tr>
 * <tr><td>values32, values64</td><td>N</td><td>value of each entry, finite; at most one of the two is not null; if both are null every value is 1</td></tr>
 * </table>
 * <table>
 * <caption>Further arguments of a primal call</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>mean</td><td>n</td><td>weighted mean of each column over all rows, implicit zeros included</td></tr>
 * <tr><td>variance</td><td>n</td><td>weighted population variance about the mean</td></tr>
 * <tr><td>deviation</td><td>n</td><td>its square root</td></tr>
 * <tr><td>weights</td><td>m</td><td>weight of each row, positive; null if every weight is 1</td></tr>
 * </table>
 * <table>
 * <caption>Further arguments of a dual call</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>labels</td><td>n</td><td>label of each row; -1 or 1, but any number with the squared loss</td></tr>
 * <tr><td>weights</td><td>n</td><td>weight of each row, positive; null if every weight is 1</td></tr>
 * <tr><td>norms</td><td>n</td><td>of each row the sum over features of scale times squared value</td></tr>
 * <tr><td>projections</td><td>n</td><td>of each row the sum over features of scale times mean times value; null without intercept</td></tr>
 * <tr><td>scale</td><td>m</td><td>at least 0: the L2 penalty of a feature is l2 / scale, and with 0 its coefficient stays 0; null if every scale is 1</td></tr>
 * </table>
 *
 * <h2>control: 11 longs</h2>
 * 0: {@link #LAYOUT_VERSION}; 1: fit; 2: partition; 3: round t; 4: seed of the coordinate order; 5: least number of
 * coordinates to visit; 6: flags, the sum of {@link #CERTIFICATE}, {@link #BATCH} and, in primal calls, {@link #CENTRED}, in
 * dual ones {@link #GRADIENT}; 7: threads T, 1 to 256: steps are made on T copies of the shared vector, so that another T gives
 * another step, but the same one on every machine; 8: m; 9: stamp of the state that the caller expects: 0 from the start of the
 * fit, then what slot 9 of the last product's result says; 10: loss, 0 squared, 1 logistic, 2 hinge, 3 smoothed hinge, 4 squared hinge, always 0 in primal calls,
 * whose residual has all that they need of the loss. Version and stamp together determine the content of a state.
 *
 * <h2>settings of a primal call: 7 + 2 P doubles</h2>
 * 0: sigma', the subproblem parameter; 1: L1 penalty; 2: L2 penalty; 3: S, the sum of the weights of all rows; 4: scale factor of
 * the variances that the penalty is standardised with, 0 for none; 5 and 6: verdict on the pending step, the factors of
 * the step and of what was committed before it; from 7 on: P points of the line search, at most {@value #MOST_POINTS}, two
 * numbers g1, g2 each.
 *
 * <h2>settings of a dual call: 9 + J + 2 P doubles</h2>
 * 0: sigma'; 1: L2 penalty, positive; 2: S; 3: gamma, the width of the smoothed hinge's parabola; 4: h, the part of the intercept
 * in the squared norm of every row, 0 without intercept; 5: the intercept at the start of the round, 0 without; 6 and 7: verdict;
 * 8: J, at most {@value #MOST_CANDIDATES}, at least 1 for a certificate; from 9 on: J candidates for the intercept, then the P points.
 *
 * <h2>result: 512 + 8 m bytes, little endian</h2>
 * A header of 64 doubles, then m doubles. "Value" is the separable part of the objective that is minimised: the penalty in primal
 * calls, the sum of the conjugates (s / S) loss*(-alpha) in dual ones; e = g1 step + g2 previous is the change that a point of the
 * line search stands for, where previous is what the last commit added.
 * <table>
 * <caption>Slots of the header</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0, 1</td><td>value where the call started from; value after the proposed step</td></tr>
 * <tr><td>2, 3, 4</td><td>primal certificate: sum of the penalty's conjugates, greatest ratio of correlation to L1 penalty, greatest
 *   correlation relative to a column's norm; NaN without certificate and in dual calls</td></tr>
 * <tr><td>5, 6, 7</td><td>coordinates visited, entries visited, nanoseconds inside the solver</td></tr>
 * <tr><td>8, 9</td><td>bytes and stamp of the state</td></tr>
 * <tr><td>10</td><td>kappa. Primal: sum of mean times step, 0 if not centred. Dual: sum of s / (S l2) times step</td></tr>
 * <tr><td>11 to 15</td><td>a1, a2, c11, c12, c22: the quadratic terms of the value change by a1 g1 + a2 g2 +
 *   (c11 g1^2 + 2 c12 g1 g2 + c22 g2^2) / 2</td></tr>
 * <tr><td>16 to 39</td><td>for each point what all other terms change by; infinite where it leaves their domain</td></tr>
 * <tr><td>40 to 55</td><td>dual certificate: for each candidate the sum of (s / S) loss of the rows, at the shared vector</td></tr>
 * <tr><td>56 to 63</td><td>left as they are, for the caller</td></tr>
 * </table>
 * Slots without a meaning are 0. In the result of a product 0 and 1 are equal, 10 is of alpha in the place of the step, and slots from
 * 11 on are 0. Where the answer is not {@link #OK}, the content of the array is unspecified.
 *
 * <h2>Calls of model averaging</h2>
 * {@link #sgdDescend}, {@link #sgdSearch} and {@link #sgdEvaluate} are pure functions of their arguments: there is no worker state, only
 * a record that the arrays of (fit, partition) were checked, which is freed and counted as a state is. Their matrix is that of a dual call
 * (n rows, features, N entries), with labels, weights and scale as there; with the softmax loss a label is the number of a class.
 *
 * <p>The model is C (d + 1) numbers for d features and C outputs: the coefficient of feature j and output c is number j C + c, intercepts are
 * the last C; without intercept they are 0. A step on row i, where t rows have been visited since the start of the fit, is
 * w_jc = S((1 - eta l2) w_jc - eta g_c scale_j x_ij, eta l1 sqrt(scale_j)) and b_c = b_c - eta g_c, with
 * g_c = weight * (weight factor) * derivative of the loss by the prediction c.
 * <table>
 * <caption>control: 12 longs</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0</td><td>{@link #SGD_LAYOUT_VERSION}</td></tr>
 * <tr><td>1, 2, 3</td><td>fit, partition, seed of the order of the rows</td></tr>
 * <tr><td>4</td><td>d, the features</td></tr>
 * <tr><td>5, 6</td><td>loss: as in control of the other calls, or 5 for softmax; C, the outputs: 1, with softmax the classes, at least 2</td></tr>
 * <tr><td>7</td><td>flags: the sum of {@link #SGD_INTERCEPT}, {@link #SGD_RUNNING} and {@link #SGD_DUAL}</td></tr>
 * <tr><td>8</td><td>rows to visit, at least 1: a descent visits whole buckets until it has as many, a search exactly so many for steps and
 *   so many for losses, where there are twice as many rows (else the half of them, at least 1)</td></tr>
 * <tr><td>9, 10</td><td>cursor and steps: buckets and rows visited since the start of the fit</td></tr>
 * <tr><td>11</td><td>schedule: eta is 0: eta0; 1: eta0 / sqrt(1 + rate t); 2: eta0 / (1 + rate eta0 t)</td></tr>
 * </table>
 * <table>
 * <caption>settings: 7 doubles, and more where said</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0</td><td>gamma, the width of the smoothed hinge's parabola; read with that loss only</td></tr>
 * <tr><td>1, 2</td><td>l1 and l2, at least 0</td></tr>
 * <tr><td>3</td><td>weight factor, positive: the rows of all partitions over the sum of their weights</td></tr>
 * <tr><td>4, 5</td><td>eta0, positive and less than 1 / l2, read by a descent; rate, at least 0</td></tr>
 * <tr><td>6</td><td>descent: the share, 0 to 1, that its model is multiplied by; evaluation: the factor of its vector</td></tr>
 * <tr><td>from 7 on</td><td>search: values of eta0 to try, 1 to {@value #MOST_STEP_SIZES}; evaluation with {@link #SGD_DUAL}: the dual
 *   numbers; else nothing. Dual numbers are delta for the squared loss; the factors of rows with label -1 and with label 1 for the other losses
 *   of one output; eps and C probabilities for softmax</td></tr>
 * </table>
 * <table>
 * <caption>Slots of the header; those that are not named are 0, and those from 56 on are left as they are</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0, 1</td><td>sum of weight times loss over the rows visited, each before its step (evaluation with dual numbers: of the conjugates; 0
 *   for a search); sum of their weights (search: of the rows whose loss was taken)</td></tr>
 * <tr><td>2, 3</td><td>sums of |w| / sqrt(scale) and of w^2 / scale of the shared model</td></tr>
 * <tr><td>4</td><td>1 if numbers were not finite any more, else 0: slot 0 is infinite then, and the vector that of a call that visits
 *   nothing</td></tr>
 * <tr><td>5, 6, 7</td><td>rows visited, entries visited, nanoseconds inside the solver</td></tr>
 * <tr><td>9, 10</td><td>cursor and steps after the call</td></tr>
 * <tr><td>11, 12</td><td>evaluation, losses of one output but squared: sum of weight * p over the rows with label 1, and with -1, where p is
 *   minus label times derivative</td></tr>
 * <tr><td>13, 14</td><td>descent: the sums of slots 2 and 3 of the vector, before it is multiplied by the share</td></tr>
 * <tr><td>15, 16 to 39</td><td>descent: the number of factors, 0 to 24, and the factors: a coefficient of the vector whose feature no row
 *   that was visited has is the shared one times each of them in turn, the share being the last. 0 if that cannot be said: with l1, with
 *   {@link #SGD_RUNNING} (unless it diverged), and after too many renormalisations</td></tr>
 * <tr><td>16 to 39</td><td>search: for each candidate the mean loss of the rows after those it made steps on, plus penalty, at the model it
 *   reached; infinite where it diverged</td></tr>
 * </table>
 *
 * <h2>Calls of LDA</h2>
 * {@link #ldaRound} and {@link #ldaBound} are pure functions of their arguments, as the calls of model averaging are, and their records of
 * checks are the same; with its record a partition keeps memory of 4 V K bytes from one call to the next. Their matrix has a document in each
 * coordinate: offsets, words, and counts as values, each 0 or 1e-6 to 1e9. A document without counts above 0 is empty: it is skipped.
 *
 * <p>The model is V K numbers for V words and K topics: number w K + k is lambda_kw - eta, topic k of word w without its prior; each 0 to 1e30.
 * They are little endian floats; if V K is odd, a 0 is behind them, so that a vector has 8 ceil(V K / 2) bytes. A step on b documents, where W
 * workers have seen g documents since the start of the fit, takes lambda to (1 - r) lambda + r (eta + D / b times the sums of count times share of
 * the topic), with r = 1 - (1 - (tau0 + 1 + g / base)^-kappa)^(W b / base). Arithmetic is in single precision.
 * {@link LdaLayout} makes control and settings, and names the slots.
 * <table>
 * <caption>control: 15 longs</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0</td><td>{@link #LDA_LAYOUT_VERSION}</td></tr>
 * <tr><td>1, 2, 3</td><td>fit, partition, seed of the order of the documents</td></tr>
 * <tr><td>4, 5</td><td>V and K, at least 1</td></tr>
 * <tr><td>6</td><td>round: documents of a step, at least 1</td></tr>
 * <tr><td>7</td><td>flags: a sum of {@link #LDA_CONCENTRATION} and {@link #LDA_TOPIC_MEAN}; a bound ignores them</td></tr>
 * <tr><td>8</td><td>round: documents to visit that are not empty, at least 1</td></tr>
 * <tr><td>9, 10</td><td>round: cursor, the documents of this partition visited since the start of the fit, empty ones too; documents of all
 *   workers visited since then that were not empty. Bound: the first document, and the one after the last</td></tr>
 * <tr><td>11</td><td>round: W, at least 1</td></tr>
 * <tr><td>12</td><td>iterations of a document, at most; at least 1</td></tr>
 * <tr><td>13</td><td>round: D, the documents of all workers that are not empty, at least 1</td></tr>
 * <tr><td>14</td><td>round: how many documents, from the first on, the bound is asked for of</td></tr>
 * </table>
 * <table>
 * <caption>settings: 8 doubles; a bound reads 0 and 4 to 6</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0</td><td>eta, 1e-6 to 1e6</td></tr>
 * <tr><td>1, 2, 3</td><td>tau0 and kappa, at least 0; base, positive</td></tr>
 * <tr><td>4</td><td>tolerance, positive: a document is done when the mean over the topics of the change of gamma is less</td></tr>
 * <tr><td>5</td><td>over-relaxation, 0 to 1: how much further than gamma the next iteration starts</td></tr>
 * <tr><td>6</td><td>pruning, 0 to 0.5: topics with a smaller share of a document, that does not rise, leave it</td></tr>
 * <tr><td>7</td><td>share, 0 to 1, that the model reached is multiplied by</td></tr>
 * </table>
 * <table>
 * <caption>Slots of the header; those that are not named are 0, and those from 56 on are left as they are</caption>
 * <tr><th>slot</th><th>meaning</th></tr>
 * <tr><td>0</td><td>round: sum of the counts of the documents visited</td></tr>
 * <tr><td>1, 2</td><td>round: sum of r over the steps; steps</td></tr>
 * <tr><td>3</td><td>iterations of all documents, in a round without those of the sample</td></tr>
 * <tr><td>4, 11</td><td>documents whose bound is asked for: 4 has the sum of their parts of the variational bound at the shared model, the topics'
 *   own part left out, and 11 that of their counts</td></tr>
 * <tr><td>5, 6, 7</td><td>documents that were not empty, their entries that are not 0, nanoseconds inside the solver</td></tr>
 * <tr><td>9, 10</td><td>round: cursor after the call, words of the documents visited</td></tr>
 * <tr><td>15, 16 to 39</td><td>round: the number of factors, 0 to 24, and the factors: a number of the vector whose word no document that was
 *   visited has is the shared one times each of them in turn, the share being the last. Each is a float, and so are the products: each is
 *   rounded, to a subnormal number or 0 where it has to be. 0 if they would be more than there is room for</td></tr>
 * </table>
 *
 * <h2>Errors</h2>
 * {@link IllegalArgumentException} names the wrong argument; {@link NativeException} is a fault of the library;
 * {@link java.util.concurrent.CancellationException} answers {@link Cancellation#requested()}. After any of them the
 * worker state is as it was before the call. A state that is not the expected one is no error but {@link #STATE_LOST}.
 */
public final class NativeBridge {

  /** Version of the functions in this class; the library's own is {@link #abiVersion()}. */
  public static final int ABI_VERSION = 2;

  /** Version of the layout of control, settings and result. */
  public static final long LAYOUT_VERSION = 2;

  /** Points of the line search that a round can be asked for. */
  public static final int MOST_POINTS = 24;

  /** Candidates for the intercept that a dual certificate can be asked for. */
  public static final int MOST_CANDIDATES = 16;

  /** Flag of control: measure the parts of the duality gap at the start of the round. */
  public static final long CERTIFICATE = 1;

  /** Flag of control, primal only: columns and label are centred implicitly. */
  public static final long CENTRED = 2;

  /**
   * Flag of control: no step of the round sees another one, and the round ends with its epoch at the latest. With one thread only.
   */
  public static final long BATCH = 4;

  /**
   * Flag of control, dual only, with {@link #BATCH}: a step leads to minus the derivative of the row's loss. From dual variables of 0 the
   * update is the gradient of the losses, times -1 / l2.
   */
  public static final long GRADIENT = 8;

  /** Version of the layout of control, settings and result of the calls of model averaging. */
  public static final long SGD_LAYOUT_VERSION = 1;

  /** Step sizes that a search can be asked for. */
  public static final int MOST_STEP_SIZES = 24;

  /** Flag of control, model averaging: steps change the intercepts. */
  public static final long SGD_INTERCEPT = 1;

  /** Flag of control, descent: the result is the mean of the models after every step, in the place of the last one. */
  public static final long SGD_RUNNING = 2;

  /** Flag of control, evaluation: a dual point in the place of the gradient. */
  public static final long SGD_DUAL = 4;

  /** Version of the layout of control, settings and result of the calls of LDA. */
  public static final long LDA_LAYOUT_VERSION = 1;

  /** Flag of control, round of LDA: behind the vector of the result are K doubles, sums over documents of the expected logarithms of their topics. */
  public static final long LDA_CONCENTRATION = 1;

  /** Flag: factors of words are the mean of the topics, lambda over its sum, in the place of exp(E[log beta]). */
  public static final long LDA_TOPIC_MEAN = 2;

  /** The call was done. */
  public static final int OK = 0;

  /** This process does not have the state that the call needs, or the fit was freed. */
  public static final int STATE_LOST = 1;

  private NativeBridge() {}

  /** {@link #ABI_VERSION} of the loaded library. */
  public static native int abiVersion();

  /** Identifies the sources that the loaded library was built from. */
  public static native String buildId();

  /**
   * Runs one round of primal CoCoA on a partition and keeps the proposed step as pending. A round that is repeated gives
   * the same result and applies nothing twice.
   *
   * @param shared
   *   residual, 8 m bytes: m little endian doubles; read
   * @param result
   *   512 + 8 m bytes, written: the vector is A times the step (centred where the flag is set)
   * @param cancellation
   *   polled every few milliseconds
   * @return {@link #OK}, or {@link #STATE_LOST}
   */
  public static native int primalRound(long[] control, double[] settings, int[] offsets, int[] rows, float[] values32,
      double[] values64, double[] mean, double[] variance, double[] deviation, double[] weights, byte[] shared,
      byte[] result, Cancellation cancellation);

  /**
   * Settles the step of round t - 1, drops the step of round t, moves the state to version t + 1 and computes the product
   * of the partition's columns with its coefficients. The state gets a new stamp, 2 (t + 1). Where there is no matching state
   * it starts again from zero, with stamp 2 (t + 1) + 1. A repeated call finds the state moved already, and leaves it alone.
   *
   * @param result
   *   512 + 8 m bytes, written: the vector is A times the coefficients (centred where the flag is set)
   * @return {@link #OK}, or {@link #STATE_LOST} if the fit was freed or the state is of a later round
   */
  public static native int primalProduct(long[] control, double[] settings, int[] offsets, int[] rows,
      float[] values32, double[] values64, double[] mean, double[] variance, double[] deviation, double[] weights,
      byte[] result, Cancellation cancellation);

  /**
   * Runs one round of dual CoCoA on a partition: as {@link #primalRound}, with rows as coordinates.
   *
   * @param shared
   *   coefficients, 8 m bytes: m little endian doubles; read
   * @param result
   *   512 + 8 m bytes, written: the vector is, for each feature, scale times the sum over rows of s / (S l2) times step times value
   * @param cancellation
   *   polled every few milliseconds
   * @return {@link #OK}, or {@link #STATE_LOST}
   */
  public static native int dualRound(long[] control, double[] settings, int[] offsets, int[] features, float[] values32,
      double[] values64, double[] labels, double[] weights, double[] norms, double[] projections, double[] scale,
      byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Settles the state and computes its product: as {@link #primalProduct}, with rows as coordinates.
   *
   * @param result
   *   512 + 8 m bytes, written: the vector is that of {@link #dualRound} with alpha in the place of the step
   * @return {@link #OK}, or {@link #STATE_LOST} if the fit was freed or the state is of a later round
   */
  public static native int dualProduct(long[] control, double[] settings, int[] offsets, int[] features,
      float[] values32, double[] values64, double[] labels, double[] weights, double[] norms, double[] projections,
      double[] scale, byte[] result, Cancellation cancellation);

  /**
   * Runs local SGD on a partition, from the shared model.
   *
   * @param shared
   *   model, 8 C (d + 1) bytes: little endian doubles; read
   * @param result
   *   512 + 8 C (d + 1) bytes, written: the vector is the share times the model reached, or times the mean; not the array of shared
   * @param cancellation
   *   polled every few milliseconds
   */
  public static native void sgdDescend(long[] control, double[] settings, int[] offsets, int[] features, float[] values32,
      double[] values64, double[] labels, double[] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Tries values of eta0 on a few rows of a partition, each from the shared model.
   *
   * @param result
   *   512 bytes, written
   */
  public static native void sgdSearch(long[] control, double[] settings, int[] offsets, int[] features, float[] values32,
      double[] values64, double[] labels, double[] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Losses of all rows of a partition at the shared model, and their gradient or dual point.
   *
   * @param result
   *   512 + 8 C (d + 1) bytes, written: the vector is the factor times the sum of weight times derivative times value (with dual numbers: the
   *   dual variable in the place of the derivative); for the intercepts without value, always
   */
  public static native void sgdEvaluate(long[] control, double[] settings, int[] offsets, int[] features, float[] values32,
      double[] values64, double[] labels, double[] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Makes steps of the topics on documents of a partition, from the shared model, and computes the bound of a sample at that model.
   *
   * @param alpha
   *   K numbers, 1e-6 to 1e6: prior of the topics in a document
   * @param shared
   *   model, 8 ceil(V K / 2) bytes: little endian floats, and padding that is not read; read
   * @param result
   *   512 + 8 ceil(V K / 2) bytes, 8 K more with {@link #LDA_CONCENTRATION}, written: the vector is the share times the model reached, little
   *   endian floats, its padding 0; not the array of shared
   * @param cancellation
   *   polled every few milliseconds
   */
  public static native void ldaRound(long[] control, double[] settings, double[] alpha, int[] offsets, int[] words, float[] values32,
      double[] values64, byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * The variational bound of documents of a partition at the shared model.
   *
   * @param result
   *   512 bytes, written
   */
  public static native void ldaBound(long[] control, double[] settings, double[] alpha, int[] offsets, int[] words, float[] values32,
      double[] values64, byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Copies a worker state. All arrays are written, the last three have length {@link #stateSize}.
   *
   * @param meta
   *   5 longs: version, stamp, cursor, round of the pending step or -1, cursor after the pending step
   * @param alpha
   *   committed coefficients, or dual variables
   * @param previous
   *   what the last commit added to alpha
   * @param delta
   *   the pending step, zeros if there is none
   * @return whether there is such a state
   */
  public static native boolean exportState(long fit, int partition, long[] meta, double[] alpha, double[] previous,
      double[] delta);

  /**
   * Replaces a worker state, or creates it; nothing is pending in it. Ignored if the fit was freed.
   *
   * @param meta
   *   at least 3 longs: version, stamp, cursor
   */
  public static native void importState(long fit, int partition, long[] meta, double[] alpha, double[] previous);

  /** Number of coordinates of a worker state, -1 if there is none. */
  public static native int stateSize(long fit, int partition);

  /** Frees all states and records of a fit for good: late calls of it get {@link #STATE_LOST}, or leave no record. Returns the bytes freed. */
  public static native long freeFit(long fit);

  /** Frees states and records of checks that no call has touched for longer than this. Returns the bytes freed. */
  public static native long expire(long maxAgeMillis);

  /** Bytes of all states, and of the records of checks with the memory that is kept there. */
  public static native long stateBytes();

  /** Number of states, and of records of checks. */
  public static native long stateEntries();
}
