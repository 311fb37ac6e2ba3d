package dwell.jni;

/**
 * The functions of the native library. Call {@link NativeLoader#ensureLoaded()} first; a call before it is an
 * {@link UnsatisfiedLinkError}. The package must not be relocated: the library binds these methods by name.
 *
 * <p>{@link CdLayout}, {@link MarginLayout}, {@link SgdLayout}, {@link PassLayout} and {@link LdaLayout} each describe the arrays {@code control} and
 * {@code settings} of a family of calls and the slots of its {@code result}, and make control and settings.
 * {@link ResultHeader} describes the slots that all results share.
 *
 * <h2>Coordinate descent</h2>
 * {@link #primalRound}, {@link #primalProduct}, {@link #dualRound} and {@link #dualProduct}. In a primal call the coordinates are
 * columns of the data and the shared vector has one number for each row. In a dual call the coordinates are rows and the shared
 * vector has one number for each feature. Below, n is the number of coordinates, m the length of the shared vector and N the number
 * of stored entries.
 *
 * <p>Native code keeps one worker state for each (fit, partition) in this process: a committed version, and at most one proposed
 * step. The step is pending until the message of the next round brings the verdict on it. A state is a cache: a call that does
 * not find the version and stamp that it needs returns {@link #STATE_LOST}, and the caller rebuilds the state with a product.
 *
 * <p>The arrays of a partition come in one or more blocks, of which each argument has one array. A block is a matrix, coordinate by
 * coordinate, and numbers for its rows or columns. The matrix is sparse (CSC in a primal call, CSR in a dual one) or dense: then there are
 * neither offsets nor indices, and every coordinate has a value for each of its m places. Below, n and N count the coordinates and the stored
 * entries of a block. Native code pins the arrays of the blocks that it works on for a fraction of a millisecond at a time, and never
 * writes them. They must not change while a call runs.
 * <table>
 * <caption>Arguments that describe the matrix of a block</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>offsets</td><td>n + 1</td><td>entries of coordinate i are offsets[i] until offsets[i + 1]; offsets[0] = 0, offsets[n] = N; null if the matrix is dense</td></tr>
 * <tr><td>rows (dual: features)</td><td>N</td><td>row (feature) of each entry, 0 until m, increasing inside a coordinate; null if the matrix is dense</td></tr>
 * <tr><td>values32, values64</td><td>N</td><td>value of each entry, finite; at most one of the two is not null; if both are null every value is 1, and the matrix is sparse</td></tr>
 * </table>
 * <table>
 * <caption>Further arguments of a primal call</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>mean</td><td>n</td><td>for each block: weighted mean of each column over all rows, including implicit zeros</td></tr>
 * <tr><td>variance</td><td>n</td><td>for each block: weighted population variance about the mean</td></tr>
 * <tr><td>deviation</td><td>n</td><td>for each block: square root of the variance</td></tr>
 * <tr><td>weights</td><td>m</td><td>weight of each row, positive; null if every weight is 1</td></tr>
 * </table>
 * <table>
 * <caption>Further arguments of a dual call</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>labels</td><td>n</td><td>for each block: label of each row; -1 or 1, or with the flag {@link #CLASSES} 0 or 1; any number with the squared loss</td></tr>
 * <tr><td>weights</td><td>n</td><td>for each block: weight of each row, positive; null if every weight of the block is 1</td></tr>
 * <tr><td>scale</td><td>m</td><td>at least 0: the L2 penalty of a feature is l2 / scale, and with 0 its coefficient stays 0; null if every scale is 1</td></tr>
 * <tr><td>mean</td><td>m</td><td>weighted mean of each feature; null without intercept. Scale and mean must be the same in all calls of a fit</td></tr>
 * </table>
 *
 * <h2>Model averaging</h2>
 * {@link #sgdDescend}, {@link #sgdSearch} and {@link #networkDescend} are pure functions of their arguments: native code keeps no worker state for them. The rows of a
 * partition come in the blocks of a dual call, with labels, weights and scale as there. With the flag {@link #SGD_CLASSES} labels are 0 and 1;
 * with the softmax loss a label is the number of a class. The result does not depend on how the rows are cut into blocks.
 *
 * <p>A step on row i, after t rows since the start of the fit, is
 * w_jc = S((1 - eta l2) w_jc - eta g_c scale_j x_ij, eta l1 sqrt(scale_j)) and b_c = b_c - eta g_c, where S(v, h) moves v towards 0 by h
 * and g_c = weight * (weight factor) * derivative of the loss by the prediction c.
 *
 * <h2>Sums that come with reading</h2>
 * {@link #featureSums} is a pure function of a block and of the sums that it adds to, which Java holds: {@link SumsLayout}.
 *
 * <h2>Newton's method</h2>
 * {@link #passBegin} or {@link #networkBegin}, {@link #passBlock}, {@link #passEnd}: a pass over the blocks of a partition, for a worker. Each call pins the arrays
 * of its block for as long as it copies some hundred rows, time and again. {@link #newtonModel} is for the leader, and copies its arrays.
 *
 * <h2>L-BFGS</h2>
 * The functions whose names begin with quasiNewton are for who holds the vectors of a search: its leader, or each worker a slice of them.
 * They keep nothing: Java holds all vectors, and they are pinned for some ten thousand entries at a time.
 *
 * <h2>LDA</h2>
 * {@link #ldaRound} and {@link #ldaBound} are pure functions of their arguments too. A partition keeps memory of 4 V K bytes from one call
 * to the next, for V words and K topics; it is freed and counted as states are. The documents come in blocks, each a sparse matrix with a
 * document in each coordinate: offsets, words, and counts as values, each 0 or 1e-6 to 1e9. Element b of an argument is the array of
 * block b; values32 and values64 may be null, and so may their elements. A block is checked once, and pinned for as long as the words of
 * documents are read. A call skips documents without counts above 0.
 *
 * <p>A step on b documents, after g documents of W workers since the start of the fit, changes lambda to
 * (1 - r) lambda + r (eta + D / b times the sums of count times share of the topic), with
 * r = 1 - (1 - (tau0 + 1 + g / base)^-kappa)^(W b / base). Arithmetic is in single precision.
 *
 * <h2>Errors</h2>
 * {@link IllegalArgumentException} names the wrong argument; {@link NativeException} is a fault of the library;
 * {@link java.util.concurrent.CancellationException} answers {@link Cancellation#requested()}. None of them changes the worker
 * state. After any of them, and after {@link #STATE_LOST}, the content of {@code result} is unspecified. A lost state is an
 * answer, not an error.
 */
public final class NativeBridge {

  /** Version of the functions in this class; {@link #abiVersion()} is the library's own. */
  public static final int ABI_VERSION = 7;

  /** Version of {@link CdLayout}. */
  public static final long LAYOUT_VERSION = 3;

  /** Flag of coordinate descent: measure the parts of the duality gap at the start of the round. */
  public static final long CERTIFICATE = 1;

  /** Flag of primal calls: columns and label are centred implicitly. */
  public static final long CENTRED = 2;

  /** Flag of a dual call: labels are classes 0 and 1, which stand for -1 and 1. */
  public static final long CLASSES = 4;

  /** Version of {@link MarginLayout}. */
  public static final long MARGIN_LAYOUT_VERSION = 1;

  /** Version of {@link SgdLayout}. */
  public static final long SGD_LAYOUT_VERSION = 5;

  /** Version of {@link NetworkLayout}. */
  public static final long NETWORK_LAYOUT_VERSION = 1;

  /** Flag of model averaging: steps change the intercepts. */
  public static final long SGD_INTERCEPT = 1;

  /** Flag: labels are classes 0 and 1, which stand for -1 and 1. Not with the softmax loss. */
  public static final long SGD_CLASSES = 2;

  /** Version of {@link PassLayout}. */
  public static final long PASS_LAYOUT_VERSION = 7;

  /** Flag of a pass: rows have a last entry 1, whose coefficient is the intercept. */
  public static final long PASS_INTERCEPT = 1;

  /** Flag of a pass: sum the gradient. */
  public static final long PASS_GRADIENT = 2;

  /** Flag of a pass: sum features and their squares. */
  public static final long PASS_MOMENTS = 4;

  /** Flag of a pass: rows where a loss with a scale is linear count in the Hessian by the parabola above it. */
  public static final long PASS_MAJORISE = 8;

  /**
   * Flag of a pass with the smoothed hinge: earlier models shift its corner for each row. The loss is the maximum over a in 0 to 1 of
   * a (1 - yz) - gamma (a - a')^2 / 2, where a' is the best a of the earlier models one after the other, 0 at first.
   */
  public static final long PASS_PROXIMAL = 16;

  /** A pass sums the Hessian. */
  public static final long PASS_HESSIAN = 32;

  /** Version of {@link LdaLayout}. */
  public static final long LDA_LAYOUT_VERSION = 2;

  /**
   * Flag of a round of LDA: K doubles follow the vector of the result. They are the sums over documents of the expected logarithms
   * of their topics.
   */
  public static final long LDA_CONCENTRATION = 1;

  /** Flag of a round of LDA: the factors of a word are the mean of the topics, lambda over its sum, not exp(E[log beta]). */
  public static final long LDA_TOPIC_MEAN = 2;

  /** The call succeeded. */
  public static final int OK = 0;

  /** This process does not hold the state that the call needs, or the fit was freed. */
  public static final int STATE_LOST = 1;

  private NativeBridge() {}

  /** {@link #ABI_VERSION} of the loaded library. */
  public static native int abiVersion();

  /** Identifies the sources that the loaded library was built from. */
  public static native String buildId();

  /**
   * Runs one round of primal CoCoA on a partition and keeps the proposed step as pending. A repeated round gives the same result
   * and applies nothing twice.
   *
   * @param shared
   *   residual, 8 m bytes: m little endian doubles; read
   * @param result
   *   {@link ResultHeader#length} of m, written: the vector is the matrix times the step (centred if the flag is set)
   * @param cancellation
   *   polled every few milliseconds
   * @return {@link #OK}, or {@link #STATE_LOST}
   */
  public static native int primalRound(long[] control, double[] settings, int[][] offsets, int[][] rows,
      float[][] values32, double[][] values64, double[][] mean, double[][] variance, double[][] deviation,
      double[] weights, byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Rebuilds the state: settles the step of round t - 1, drops the step of round t, moves the state to version t + 1 and computes the
   * product of the partition's columns with its coefficients. The state gets a new stamp, 2 (t + 1). Without a matching state it
   * starts again from zero, with stamp 2 (t + 1) + 1. A repeated call finds the state already moved and does not change it.
   *
   * @param result
   *   {@link ResultHeader#length} of m, written: the vector is the matrix times the coefficients (centred if the flag is set)
   * @return {@link #OK}, or {@link #STATE_LOST} if the fit was freed or the state is of a later round
   */
  public static native int primalProduct(long[] control, double[] settings, int[][] offsets, int[][] rows,
      float[][] values32, double[][] values64, double[][] mean, double[][] variance, double[][] deviation,
      double[] weights, byte[] result, Cancellation cancellation);

  /**
   * Runs one round of dual CoCoA on a partition: as {@link #primalRound}, with rows as coordinates.
   *
   * @param shared
   *   coefficients, 8 m bytes: m little endian doubles; read
   * @param result
   *   {@link ResultHeader#length} of m, written: the vector is, for each feature, scale times the sum over rows of s / (S l2) times
   *   step times value
   * @param cancellation
   *   polled every few milliseconds
   * @return {@link #OK}, or {@link #STATE_LOST}
   */
  public static native int dualRound(long[] control, double[] settings, int[][] offsets, int[][] features,
      float[][] values32, double[][] values64, double[][] labels, double[][] weights, double[] scale, double[] mean,
      byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Rebuilds the state: as {@link #primalProduct}, with rows as coordinates.
   *
   * @param result
   *   {@link ResultHeader#length} of m, written: the vector of {@link #dualRound} with the dual variables for the step
   * @return {@link #OK}, or {@link #STATE_LOST} if the fit was freed or the state is of a later round
   */
  public static native int dualProduct(long[] control, double[] settings, int[][] offsets, int[][] features,
      float[][] values32, double[][] values64, double[][] labels, double[][] weights, double[] scale, double[] mean,
      byte[] result, Cancellation cancellation);

  /**
   * Computes margins, losses and derivatives of a slice of m rows, or sums over them. {@link MarginLayout} says which operation
   * writes which array. No array that is written may be given twice.
   *
   * @param margins
   *   m products of the data with the coefficients, without the intercept; read, and moved by {@link MarginLayout#MOVE}
   * @param direction
   *   the last step of the margins; read, and written by {@link MarginLayout#MOVE}
   * @param update
   *   the workers' update of the margins; read
   * @param losses
   *   written by {@link MarginLayout#LOSSES}, read by {@link MarginLayout#ALONG}
   * @param residuals
   *   written by {@link MarginLayout#RESIDUALS}
   * @param labels
   *   label of each row; -1 or 1, but any number with the squared loss
   * @param weights
   *   weight of each row, positive; null if every weight is 1
   * @param sums
   *   {@link MarginLayout#SUMS} numbers, written
   */
  public static native void margins(long[] control, double[] settings, double[] margins, double[] direction, double[] update,
      double[] losses, double[] residuals, double[] labels, double[] weights, double[] sums);

  /**
   * Runs local SGD on a partition, from the shared model.
   *
   * @param shared
   *   model, 8 C (d + 1) bytes: little endian doubles; read
   * @param result
   *   {@link SgdLayout#length}, written: the vector is the share times the model that the steps reach, or times the mean of the models;
   *   not the array of shared
   * @param cancellation
   *   polled every few milliseconds
   */
  public static native void sgdDescend(long[] control, double[] settings, int[][] offsets, int[][] features, float[][] values32,
      double[][] values64, double[][] labels, double[][] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Tries values of eta0 on a few rows of a partition, each from the shared model.
   *
   * @param result
   *   {@link ResultHeader#BYTES}, written
   */
  public static native void sgdSearch(long[] control, double[] settings, int[][] offsets, int[][] features, float[][] values32,
      double[][] values64, double[][] labels, double[][] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Runs local SGD by mini-batches on a partition, from the shared weights of a network. A step subtracts the step size times the mean gradient
   * over a batch; rows come in buckets of neighbours, each epoch in a new order that depends on seed and partition alone.
   *
   * @param control
   *   see {@link NetworkLayout}
   * @param scale
   *   not read
   * @param shared
   *   weights as in {@link #networkBegin}; read
   * @param result
   *   a header and as many weights, written: the share times the weights that the steps reach; not the array of shared
   */
  public static native void networkDescend(long[] control, double[] settings, int[][] offsets, int[][] features, float[][] values32,
      double[][] values64, double[][] labels, double[][] weights, double[] scale, byte[] shared, byte[] result,
      Cancellation cancellation);

  /**
   * Begins a pass over rows: sums of the losses at a model, of their gradient and of their Hessian. Features are centred. With dual
   * numbers, conjugates and dual variables stand for losses and their derivatives.
   *
   * @param control
   *   see {@link PassLayout}
   * @param centre
   *   p numbers, subtracted from the features, or none; 0 without {@link #PASS_INTERCEPT}
   * @param model
   *   n numbers for each output, little endian: p coefficients and, with {@link #PASS_INTERCEPT}, the intercept of the centred features
   * @param direction
   *   as many numbers, or none: the direction of a line through the model
   * @param steps
   *   at most {@link PassLayout#MAX_STEPS}: where on the line to sum the losses, too
   * @param reach
   *   as many numbers, at least 0, or none: see {@link PassLayout#REACH}
   * @param dual
   *   the dual numbers, by loss, or none. Squared: delta, which is subtracted from the residuals, a = (y - z) - delta. Another loss of one
   *   output: f_neg and f_pos in 0 to 1, a = y f_y p with p = -y dl/dz. Softmax: eps in 0 to 1, a probability r_c of each class, and k in 0 to 1,
   *   a_c = k ([c = y] - ((1 - eps) q_c + eps r_c)) with the predicted probabilities q
   * @param remainders
   *   for each feature that a combination of features replaces its number, and n weights of the centred features and the intercept's 1;
   *   or none
   * @param earlier
   *   with {@link #PASS_PROXIMAL}, for each earlier model n numbers as in {@code model}, and its gamma; none without it
   * @return the handle of the pass, which one thread at a time may use. The caller ends or frees it
   */
  public static native long passBegin(long[] control, double[] centre, byte[] model, double[] direction, double[] steps,
      double[] reach, double[] dual, double[] remainders, double[] earlier);

  /**
   * Begins a pass of a network with sigmoids in its hidden layers and the softmax with cross entropy on top: the sum of the losses at some
   * weights, and their gradient. Labels are numbers of classes. Weights that are not finite give a loss that is not.
   *
   * @param layers
   *   2 to {@link NetworkLayout#MAX_LAYERS} sizes: features, the units of each hidden layer, classes
   * @param weights
   *   little endian, for each layer after the features the matrix, which has a row for each unit, column by column, and then the bias
   * @return the handle of the pass, as of {@link #passBegin}
   */
  public static native long networkBegin(int[] layers, byte[] weights);

  /** Begins another pass with the same parameters, which it shares; returns its handle. */
  public static native long passFork(long pass);

  /**
   * Adds the rows of a block to a pass. If it throws, the pass is freed.
   *
   * @param offsets
   *   entries of row i are offsets[i] until offsets[i + 1]; null if rows are dense
   * @param features
   *   feature of each entry, 0 until p; null if rows are dense
   * @param labels
   *   of each row; 0 or 1 for losses of two classes, the number of the class for the softmax
   * @param weights
   *   of each row; null if every weight is 1
   * @return nanoseconds of work
   */
  public static native long passBlock(long pass, int[] offsets, int[] features, float[] values32, double[] values64,
      double[] labels, double[] weights);

  /**
   * Writes the sums of a pass, and frees it.
   *
   * @param nanos
   *   nanoseconds of work so far, for the header
   * @param result
   *   {@link PassLayout#length}; {@link ResultHeader#BYTES} if the pass sums losses only; written. What is behind a gradient alone stays
   */
  public static native void passEnd(long pass, long nanos, byte[] result);

  /**
   * Adds the sums of one pass to those of another one with the same parameters, and frees it. If it throws, both are freed.
   */
  public static native void passJoin(long into, long from);

  /**
   * Adds the rows of a block to sums over the nonzeros of each feature. Arrays of the block are those of {@link #passBlock}.
   *
   * @param used
   *   number of features that have sums so far
   * @param ones
   *   for each feature how many of its nonzeros were counted instead, in rows whose label is not positive and in rows whose label is; read
   *   and written. A block counts its nonzeros if all of them are 1 and so is the weight of each of its rows. If it is empty, ones have sums
   * @param positions
   *   for each feature 1 and the position of its sums, or 0 if it has none so far; read and written
   * @param sums
   *   {@link SumsLayout#SUMS} numbers for each feature that has any, with room for those of the block; read and written
   * @return number of features that have sums now
   */
  public static native int featureSums(int[] offsets, int[] features, float[] values32, double[] values64, double[] labels,
      double[] weights, int used, long[] ones, int[] positions, double[] sums);

  /**
   * Begins a search by L-BFGS. With n features and C outputs, vectors have C (n + 1) coordinates: of each output n, each the coefficient of
   * a feature times its deviation, and the intercept of centred features, whose deviation is 1 and whose mean is 0. A search has all of
   * them or a part. Its vectors lie on Java's heap; those given are copied. If a call on a search throws, the search is freed.
   *
   * @param ends
   *   cuts the vectors into blocks, each within one output and of 65536 entries at most: their ends, which increase. Results have a row of
   *   numbers for each block
   * @param deviation
   *   of each coordinate; the coefficient of a feature without deviation is 0
   * @param mean
   *   of each coordinate; null without an intercept
   * @param factors
   *   r of each coordinate x, whose penalties are l1 r |x| and l2 (r x)^2 / 2
   * @param start
   *   the first point
   * @param memory
   *   corrections that are kept, at least 1
   * @param threads
   *   at most so many share the work; bits do not depend on their number
   * @return the handle of the search, which one thread at a time may use. The caller frees it
   */
  public static native long quasiNewtonBegin(int[] ends, double[] deviation, double[] mean, double[] factors, double l1, double l2,
      double[] start, int memory, int threads);

  /**
   * Tries a step along the direction, which is 0 at the start. With an L1 penalty, a coordinate that leaves the orthant in which the
   * subgradient descends becomes 0.
   *
   * @param model
   *   8 bytes for each coordinate, written, little endian: its coefficient, or the intercept of centred features
   * @return a number a block: the sum of mean times coefficient
   */
  public static native double[] quasiNewtonTrial(long search, double step, byte[] model);

  /**
   * Takes the gradient at the last trial: of mean loss and L2 penalty, by the coordinates.
   *
   * @param sums
   *   the gradient of the sum of the losses by the model
   * @param total
   *   sum of the weights of all rows
   * @param intercepts
   *   for each block the derivative of the mean loss by the intercept of its output
   * @return 5 numbers a block: L2 penalty, L1 penalty, the product of direction and gradient, or with an L1 penalty the subgradient nearest
   *   to 0, and the squares of gradient and subgradient
   */
  public static native double[] quasiNewtonGradient(long search, double[] sums, double total, double[] intercepts);

  /**
   * Makes the last trial the point.
   *
   * @param moved
   *   whether the step from the point before it becomes the newest correction
   * @return empty unless it has moved; then 6 m numbers a block for m corrections: for each step, newest first, and then each change of the
   *   gradient, its products with the newest step, the newest change, and the subgradient at the new point, or its gradient
   */
  public static native double[] quasiNewtonAccept(long search, boolean moved);

  /**
   * Combines the next direction. With an L1 penalty, entries that do not descend along the subgradient are 0.
   *
   * @param factor
   *   of the subgradient at the point, or of its gradient
   * @param factors
   *   of steps and changes; the corrections without a factor are forgotten
   * @return 2 numbers a block: the direction's square, and its product with the subgradient, or the gradient
   */
  public static native double[] quasiNewtonTurn(long search, double factor, double[] factors);

  /** Frees a search; does nothing if there is no such search. */
  public static native void quasiNewtonFree(long search);

  /** Frees a pass; does nothing if there is no such pass. */
  public static native void passFree(long pass);

  /**
   * Minimises a quadratic model over v: v'Hv/2 + g'v + the sum of l1 |x + v| + l2 (x + v)^2 / 2, with lower <= x + v <= upper.
   *
   * @param sums
   *   holds H by pairs of outputs as {@link PassLayout} has it, from position `triangles` on
   * @param triangles
   *   that position
   * @param outputs
   *   number of outputs; 1 for the triangle of any H
   * @param gradient
   *   g, n numbers
   * @param at
   *   x, n numbers
   * @param l1
   *   n numbers, at least 0
   * @param l2
   *   n numbers, at least 0
   * @param fixed
   *   n numbers: whether a variable does not move
   * @param lower
   *   n numbers: least value of each variable, or minus infinity
   * @param upper
   *   n numbers: largest value of each variable, or infinity
   * @param objective
   *   the objective at x, by which rounding is judged
   * @param threads
   *   threads for the work
   * @param step
   *   n numbers, written: v
   * @param reach
   *   n numbers, written: the root of the diagonal of the inverse of H + l2, 0 where a variable is fixed or collinear; null for none
   * @param dropped
   *   n numbers, written: whether other variables explain a variable, as far as H tells
   * @param bound
   *   4 numbers, written: how far the model falls; slope and offset of the lower bound of what it leaves out, apart from dropped variables;
   *   1 if the step balances the slopes of dropped variables, otherwise 0
   */
  public static native void newtonModel(double[] sums, int triangles, int outputs, double[] gradient, double[] at, double[] l1,
      double[] l2, boolean[] fixed, double[] lower, double[] upper, double objective, int threads, double[] step,
      double[] reach, boolean[] dropped, double[] bound);

  /**
   * What is left of the entries of a row that others explain, as far as the Hessian tells, beside those that explain them.
   *
   * @param sums
   *   holds the Hessian, see {@link #newtonModel}; the triangles of each output with itself are added up
   * @param fixed
   *   for each of the n entries of a row whether it is left out
   * @param dropped
   *   for each entry whether it counts as explained in any case
   * @return for each such entry its number, and the n weights of its remainder: see {@link #passBegin}
   */
  public static native double[] newtonRemainders(double[] sums, int triangles, int outputs, boolean[] fixed, boolean[] dropped,
      int threads);

  /**
   * Makes steps of the topics on documents of a worker, from the shared model, and computes the bound of a sample at the shared
   * model.
   *
   * @param alpha
   *   K numbers, 1e-6 to 1e6: prior of the topics in a document
   * @param shared
   *   model, 8 ceil(V K / 2) bytes: little endian floats, and padding that is not read; read
   * @param result
   *   {@link LdaLayout#length}, written: the vector is the share times the model that the steps reach, little endian floats, its padding
   *   0
   * @param cancellation
   *   polled between documents, every few milliseconds at most
   */
  public static native void ldaRound(long[] control, double[] settings, double[] alpha, int[][] offsets, int[][] words, float[][] values32,
      double[][] values64, byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Computes the variational bound of documents of a worker at the shared model.
   *
   * @param result
   *   {@link ResultHeader#BYTES}, written
   */
  public static native void ldaBound(long[] control, double[] settings, double[] alpha, int[][] offsets, int[][] words, float[][] values32,
      double[][] values64, byte[] shared, byte[] result, Cancellation cancellation);

  /**
   * Copies a worker state into the arrays; the last three have length {@link #stateSize}.
   *
   * @param meta
   *   {@link CdLayout#META_SLOTS} longs, by the slots named {@code META} there
   * @param alpha
   *   committed coefficients, or dual variables
   * @param previous
   *   the change of alpha by the last commit
   * @param delta
   *   the pending step, or zeros
   * @return whether there is such a state
   */
  public static native boolean exportState(long fit, int partition, long[] meta, double[] alpha, double[] previous,
      double[] delta);

  /**
   * Replaces a worker state, or creates it, without a pending step. Does nothing if the fit was freed.
   *
   * @param meta
   *   at least {@link CdLayout#META_IMPORTED} longs: version, stamp, cursor
   */
  public static native void importState(long fit, int partition, long[] meta, double[] alpha, double[] previous);

  /** Number of coordinates of a worker state; -1 if there is none. */
  public static native int stateSize(long fit, int partition);

  /**
   * Frees all states and records of a fit for good: late calls of the fit get {@link #STATE_LOST}, or leave no record. Returns the
   * bytes freed.
   */
  public static native long freeFit(long fit);

  /** Frees states and records of checks that no call has touched for longer than this. Returns the bytes freed. */
  public static native long expire(long maxAgeMillis);

  /** Bytes of all states, and of all records of checks with the memory that belongs to them. */
  public static native long stateBytes();

  /** Number of states, and of records of checks. */
  public static native long stateEntries();
}
