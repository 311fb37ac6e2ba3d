package dwell.jni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A random problem on one partition, with the calls on it, and the same calculation in plain Java on dense columns. */
final class Problem {
  static final int HEADER = 128;

  /** Fits are never used twice: a freed one does not come back. */
  private static final AtomicLong NEXT_FIT = new AtomicLong(1);

  enum Values { ONES, FLOATS, DOUBLES }

  final int m;
  final int n;
  final boolean centred;
  final int[] offsets;
  final int[] rows;
  final float[] values32;
  final double[] values64;
  final double[] mean;
  final double[] variance;
  final double[] deviation;
  final double[] weights;
  final double totalWeight;
  final double[] residual;
  private final double[][] dense;

  final long fit = NEXT_FIT.getAndIncrement();
  int partition = 3;
  long seed = 42;
  long budget = 1;
  long threads = 1;
  boolean certificate = true;
  double sigmaPrime = 2.0;
  double l1 = 0.02;
  double l2 = 0.01;
  double scaleFactor = 1.25;
  double theta1 = 1.0;
  double theta2 = 0.0;
  long stamp = 0;

  Problem(Random random, int m, int n, Values values, boolean weighted, boolean centred) {
    this.m = m;
    this.n = n;
    this.centred = centred;
    budget = Math.max(1, n);
    dense = new double[n][m];
    offsets = new int[n + 1];
    int[] allRows = new int[n * m];
    double[] all = new double[n * m];
    int count = 0;
    for (int i = 0; i < n; i++) {
      int always = m == 0 ? -1 : random.nextInt(m);
      for (int j = 0; j < m; j++) {
        if (j == always || random.nextInt(4) == 0) {
          double value = values == Values.ONES ? 1.0
              : values == Values.FLOATS ? (float) random.nextGaussian()
              : random.nextGaussian();
          dense[i][j] = value;
          allRows[count] = j;
          all[count++] = value;
        }
      }
      offsets[i + 1] = count;
    }
    rows = java.util.Arrays.copyOf(allRows, count);
    values64 = values == Values.DOUBLES ? java.util.Arrays.copyOf(all, count) : null;
    values32 = values == Values.FLOATS ? new float[count] : null;
    for (int k = 0; values32 != null && k < count; k++) {
      values32[k] = (float) all[k];
    }
    weights = weighted ? random.doubles(m, 0.5, 2.0).toArray() : null;
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += weight(j);
    }
    totalWeight = m == 0 ? 1.0 : sum;
    mean = new double[n];
    variance = new double[n];
    deviation = new double[n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        mean[i] += weight(j) * dense[i][j] / totalWeight;
      }
      for (int j = 0; j < m; j++) {
        variance[i] += weight(j) * Math.pow(dense[i][j] - mean[i], 2) / totalWeight;
      }
      deviation[i] = Math.sqrt(variance[i]);
    }
    residual = random.doubles(m, -1.0, 1.0).toArray();
    double mass = 0.0;
    for (int j = 0; j < m; j++) {
      mass += weight(j) * residual[j] / totalWeight;
    }
    for (int j = 0; centred && j < m; j++) {
      residual[j] -= mass;
    }
  }

  double weight(int row) {
    return weights == null ? 1.0 : weights[row];
  }

  long[] control(long round) {
    long flags = (certificate ? NativeBridge.CERTIFICATE : 0) + (centred ? NativeBridge.CENTRED : 0);
    return new long[] {NativeBridge.LAYOUT_VERSION, fit, partition, round, seed, budget, flags, threads, m, stamp};
  }

  double[] settings() {
    return new double[] {sigmaPrime, l1, l2, totalWeight, scaleFactor, theta1, theta2};
  }

  static byte[] bytes(double[] numbers) {
    ByteBuffer buffer = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asDoubleBuffer().put(numbers);
    return buffer.array();
  }

  byte[] newResult() {
    return new byte[HEADER + 8 * m];
  }

  int round(long round, byte[] result) {
    return round(round, result, Cancellation.NEVER);
  }

  int round(long round, byte[] result, Cancellation cancellation) {
    return NativeBridge.primalRound(control(round), settings(), offsets, rows, values32, values64, mean, variance, deviation,
        weights, bytes(residual), result, cancellation);
  }

  int product(long round, byte[] result) {
    return NativeBridge.primalProduct(control(round), settings(), offsets, rows, values32, values64, mean, variance,
        deviation, weights, result, Cancellation.NEVER);
  }

  double[] exportedAlpha() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] alpha = new double[size];
    NativeBridge.exportState(fit, partition, new long[5], alpha, new double[size], new double[size]);
    return alpha;
  }

  double[] exportedDelta() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] delta = new double[size];
    NativeBridge.exportState(fit, partition, new long[5], new double[size], new double[size], delta);
    return delta;
  }

  long[] exportedMeta() {
    int size = NativeBridge.stateSize(fit, partition);
    long[] meta = new long[5];
    NativeBridge.exportState(fit, partition, meta, new double[size], new double[size], new double[size]);
    return meta;
  }

  long free() {
    return NativeBridge.freeFit(fit);
  }

  static double slot(byte[] result, int slot) {
    return ByteBuffer.wrap(result).order(ByteOrder.LITTLE_ENDIAN).getDouble(8 * slot);
  }

  static double[] vector(byte[] result) {
    DoubleBuffer buffer =
        ByteBuffer.wrap(result, HEADER, result.length - HEADER).slice().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
    double[] vector = new double[buffer.remaining()];
    buffer.get(vector);
    return vector;
  }

  // The same in plain Java, from the definitions.

  double column(int i, int j) {
    return dense[i][j] - (centred ? mean[i] : 0.0);
  }

  double l1Of(int i) {
    return scaleFactor > 0 ? l1 * Math.sqrt(scaleFactor * variance[i]) : l1;
  }

  double l2Of(int i) {
    return scaleFactor > 0 ? l2 * scaleFactor * variance[i] : l2;
  }

  double penalty(double[] alpha) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += l1Of(i) * Math.abs(alpha[i]) + 0.5 * l2Of(i) * alpha[i] * alpha[i];
    }
    return sum;
  }

  /** A times these coefficients. */
  double[] times(double[] coefficients) {
    double[] product = new double[m];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        product[j] += coefficients[i] * column(i, j);
      }
    }
    return product;
  }

  /** x_i = c_i^T (s r) / S. */
  double correlation(int i, double[] r) {
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += weight(j) * column(i, j) * r[j];
    }
    return sum / totalWeight;
  }

  double meanSquare(int i) {
    return variance[i] + (centred ? 0.0 : mean[i] * mean[i]);
  }

  /** What {@code referenceRound} proposes. */
  record Step(double[] delta, long cursor) {}

  Step referenceRound(double[] alpha, long cursor) {
    double[] after = alpha.clone();
    double[] r = residual.clone();
    int bucket = Math.max(1, Math.min(64, n / 256));
    int buckets = (n + bucket - 1) / bucket;
    long visited = 0;
    int[] order = null;
    long orderOf = -1;
    while (buckets > 0 && visited < budget) {
      long epoch = cursor / buckets;
      if (order == null || orderOf != epoch) {
        order = permutation(buckets, epoch);
        orderOf = epoch;
      }
      int start = order[(int) (cursor % buckets)] * bucket;
      for (int i = start; i < Math.min(n, start + bucket); i++) {
        double q = sigmaPrime * meanSquare(i);
        double t = q * after[i] + correlation(i, r);
        double shrunk = Math.signum(t) * Math.max(Math.abs(t) - l1Of(i), 0.0);
        double next = q + l2Of(i) > 0 ? shrunk / (q + l2Of(i)) : l1Of(i) > 0 ? 0.0 : after[i];
        for (int j = 0; j < m; j++) {
          r[j] -= sigmaPrime * (next - after[i]) * column(i, j);
        }
        after[i] = next;
        visited++;
      }
      cursor++;
    }
    for (int i = 0; i < n; i++) {
      after[i] -= alpha[i];
    }
    return new Step(after, cursor);
  }

  private int[] permutation(int buckets, long epoch) {
    long state = mix(seed ^ ((partition + 1) * 0x9E3779B97F4A7C15L) ^ ((epoch + 1) * 0xBF58476D1CE4E5B9L));
    int[] order = new int[buckets];
    for (int i = 0; i < buckets; i++) {
      order[i] = i;
    }
    for (int i = buckets - 1; i >= 1; i--) {
      state += 0x9E3779B97F4A7C15L;
      int j = (int) (((mix(state) >>> 32) * (i + 1)) >>> 32);
      int swapped = order[i];
      order[i] = order[j];
      order[j] = swapped;
    }
    return order;
  }

  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
