package dwell.jni;

/**
 * The functions of the native library. {@link NativeLoader#ensureLoaded()} comes first; a call before it is an
 * {@link UnsatisfiedLinkError}. The package must not be relocated: the library binds these methods by name.
 *
 * <p>Native code keeps one worker state per (fit, partition) and process, as {@code design.md} describes it under
 * rounds: a committed version, and at most one proposed step that is pending until the next message brings its verdict.
 *
 * <h2>Arrays of a partition</h2>
 * A sparse matrix of m rows and n columns by columns (CSC), and moments of its columns. Read, never written; they must
 * not change while a call runs. n is {@code mean.length}, N the number of stored entries.
 * <table>
 * <caption>Arguments that describe a partition</caption>
 * <tr><th>argument</th><th>length</th><th>meaning</th></tr>
 * <tr><td>offsets</td><td>n + 1</td><td>entries of column i are offsets[i] until offsets[i + 1]; offsets[0] = 0, offsets[n] = N</td></tr>
 * <tr><td>rows</td><td>N</td><td>row of each entry, 0 until m, increasing inside a column</td></tr>
 * <tr><td>values32, values64</td><td>N</td><td>value of each entry, finite; at most one of the two is not null; if both are null every value is 1</td></tr>
 * <tr><td>mean</td><td>n</td><td>weighted mean of each column over all rows, implicit zeros included</td></tr>
 * <tr><td>variance</td><td>n</td><td>weighted population variance about the mean</td></tr>
 * <tr><td>deviation</td><td>n</td><td>its square root</td></tr>
 * <tr><td>weights</td><td>m</td><td>weight of each row, positive; null if every weight is 1</td></tr>
 * </table>
 *
 * <h2>control: 10 longs</h2>
 * 0: {@link #LAYOUT_VERSION}; 1: fit; 2: partition; 3: round t; 4: seed of the coordinate order; 5: least number of
 * coordinates to visit; 6: flags, the sum of {@link #CERTIFICATE} and {@link #CENTRED}; 7: threads, at least 1; 8: rows
 * m; 9: stamp of the state that the caller expects: 0 from the start of the fit, then what slot 9 of the last product's
 * result says. Version and stamp together determine the content of a state.
 *
 * <h2>settings: 7 doubles</h2>
 * 0: sigma', the subproblem parameter; 1: L1 penalty; 2: L2 penalty; 3: S, the sum of the row weights; 4: scale factor of
 * the variances that the penalty is standardised with, 0 for none; 5 and 6: verdict on the pending step, the factors of
 * the step and of what was committed before it.
 *
 * <h2>result: 128 + 8 m bytes, little endian</h2>
 * A header of 16 doubles, then one double per row. Slots of the header: 0: penalty at the coefficients that the call
 * started from; 1: penalty after the proposed step; 2: sum of the penalty's conjugates; 3: greatest ratio of correlation to
 * L1 penalty; 4: greatest correlation relative to a column's norm (2 to 4 are NaN without the certificate); 5: coordinates
 * visited; 6: nonzeros visited; 7: nanoseconds inside the solver; 8: bytes of the state; 9: stamp of the state; 10: sum of
 * mean times step, 0 if not centred. Slots 11 to 15 are left as they are. Where the answer is not {@link #OK},
 * the content of the array is unspecified.
 *
 * <h2>Errors</h2>
 * {@link IllegalArgumentException} names the wrong argument; {@link NativeException} is a fault of the library;
 * {@link java.util.concurrent.CancellationException} answers {@link Cancellation#requested()}. After any of them the
 * worker state is as it was before the call. A state that is not the expected one is no error but {@link #STATE_LOST}.
 */
public final class NativeBridge {

  /** Version of the functions in this class; the library's own is {@link #abiVersion()}. */
  public static final int ABI_VERSION = 1;

  /** Version of the layout of control, settings and result. */
  public static final long LAYOUT_VERSION = 1;

  /** Flag of control: measure the parts of the duality gap at the start of the round. */
  public static final long CERTIFICATE = 1;

  /** Flag of control: columns and label are centred implicitly. */
  public static final long CENTRED = 2;

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
   *   128 + 8 m bytes, written: the vector is A times the step (centred where the flag is set)
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
   *   128 + 8 m bytes, written: the vector is A times the coefficients (centred where the flag is set)
   * @return {@link #OK}, or {@link #STATE_LOST} if the fit was freed or the state is of a later round
   */
  public static native int primalProduct(long[] control, double[] settings, int[] offsets, int[] rows,
      float[] values32, double[] values64, double[] mean, double[] variance, double[] deviation, double[] weights,
      byte[] result, Cancellation cancellation);

  /**
   * Copies a worker state. All arrays are written, the last three have length {@link #stateSize}.
   *
   * @param meta
   *   5 longs: version, stamp, cursor, round of the pending step or -1, cursor after the pending step
   * @param alpha
   *   committed coefficients
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

  /** Number of coefficients of a worker state, -1 if there is none. */
  public static native int stateSize(long fit, int partition);

  /** Frees all states of a fit for good: late calls of it get {@link #STATE_LOST}. Returns the bytes freed. */
  public static native long freeFit(long fit);

  /** Frees states that no call has touched for longer than this. Returns the bytes freed. */
  public static native long expire(long maxAgeMillis);

  /** Bytes of all states. */
  public static native long stateBytes();

  /** Number of states. */
  public static native long stateEntries();
}
