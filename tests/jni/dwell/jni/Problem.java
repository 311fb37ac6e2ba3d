package dwell.jni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * A random problem on one partition, with the calls on it, and the same calculation in plain Java on dense arrays. There are
 * n coordinates, of m numbers each.
 */
abstract class Problem {
  static final int HEADER = 512;

  /** Fits are never used twice: a freed one does not come back. */
  private static final AtomicLong NEXT_FIT = new AtomicLong(1);

  enum Values { ONES, FLOATS, DOUBLES }

  final int m;
  final int n;
  final int[] offsets;
  final int[] indices;
  final float[] values32;
  final double[] values64;
  /** The other arrays of the partition by the names of the arguments; null for those that are left out. */
  final Map<String, double[]> fields = new LinkedHashMap<>();
  final double[] shared;
  protected final double[][] dense;

  final long fit = NEXT_FIT.getAndIncrement();
  int partition = 3;
  long seed = 42;
  long budget;
  long threads = 1;
  boolean certificate = true;
  double sigmaPrime = 2.0;
  double l2 = 0.01;
  double totalWeight;
  double theta1 = 1.0;
  double theta2 = 0.0;
  double[] points = {};
  long stamp = 0;

  /** Every coordinate has an entry, but each of number {@code emptyFrom}, twice that, and so on has none. */
  Problem(Random random, int m, int n, Values values, int emptyFrom) {
    this.m = m;
    this.n = n;
    budget = Math.max(1, n);
    dense = new double[n][m];
    offsets = new int[n + 1];
    int[] allIndices = new int[n * m];
    double[] all = new double[n * m];
    int count = 0;
    for (int i = 0; i < n; i++) {
      boolean empty = i % emptyFrom == emptyFrom - 1;
      int always = m == 0 ? -1 : random.nextInt(m);
      for (int j = 0; j < m; j++) {
        if (!empty && (j == always || random.nextInt(4) == 0)) {
          double value = values == Values.ONES ? 1.0
              : values == Values.FLOATS ? (float) random.nextGaussian()
              : random.nextGaussian();
          dense[i][j] = value;
          allIndices[count] = j;
          all[count++] = value;
        }
      }
      offsets[i + 1] = count;
    }
    indices = Arrays.copyOf(allIndices, count);
    values64 = values == Values.DOUBLES ? Arrays.copyOf(all, count) : null;
    values32 = values == Values.FLOATS ? new float[count] : null;
    for (int k = 0; values32 != null && k < count; k++) {
      values32[k] = (float) all[k];
    }
    shared = random.doubles(m, -1.0, 1.0).toArray();
  }

  // What the orientations differ in.

  abstract long flags();

  abstract long loss();

  abstract double[] settings();

  abstract int round(Call c);

  abstract int product(Call c);

  /** Of the coordinates, from the definition: infinite outside of the domain. */
  abstract double value(double[] alpha);

  /** The matrix times this, as a result has it. */
  abstract double[] times(double[] step);

  abstract double kappa(double[] step);

  /** What the certificate finds, by slot. */
  abstract Map<Integer, Double> certificate();

  /** What a round proposes. */
  record Step(double[] delta, long cursor) {}

  abstract Step referenceRound(double[] alpha, long cursor);

  // Calls.

  /** The arguments of a call, to be spoiled one at a time. */
  static final class Call {
    long[] control;
    double[] settings;
    int[] offsets;
    int[] indices;
    float[] values32;
    double[] values64;
    Map<String, double[]> fields;
    byte[] shared;
    byte[] result;
    Cancellation cancellation = Cancellation.NEVER;

    double[] field(String name) {
      return fields.get(name);
    }
  }

  /** A call with the arrays themselves. */
  Call call(long round) {
    Call c = new Call();
    c.control = new long[] {NativeBridge.LAYOUT_VERSION, fit, partition, round, seed, budget, flags(), threads, m, stamp, loss()};
    c.settings = settings();
    c.offsets = offsets;
    c.indices = indices;
    c.values32 = values32;
    c.values64 = values64;
    c.fields = fields;
    c.shared = bytes(shared);
    c.result = newResult();
    return c;
  }

  /** A call with copies of the arrays. */
  Call copiedCall(long round) {
    Call c = call(round);
    c.offsets = offsets.clone();
    c.indices = indices.clone();
    c.values32 = values32 == null ? null : values32.clone();
    c.values64 = values64 == null ? null : values64.clone();
    c.fields = new LinkedHashMap<>(fields);
    c.fields.replaceAll((name, field) -> field == null ? null : field.clone());
    return c;
  }

  int round(long round, byte[] result) {
    return round(round, result, Cancellation.NEVER);
  }

  int round(long round, byte[] result, Cancellation cancellation) {
    Call c = call(round);
    c.result = result;
    c.cancellation = cancellation;
    return round(c);
  }

  int product(long round, byte[] result) {
    Call c = call(round);
    c.result = result;
    return product(c);
  }

  byte[] newResult() {
    return new byte[HEADER + 8 * m];
  }

  static double[] concatenated(double[]... parts) {
    return Arrays.stream(parts).flatMapToDouble(Arrays::stream).toArray();
  }

  static byte[] bytes(double[] numbers) {
    ByteBuffer buffer = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asDoubleBuffer().put(numbers);
    return buffer.array();
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

  // The worker state.

  double[] exportedAlpha() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] alpha = new double[size];
    NativeBridge.exportState(fit, partition, new long[5], alpha, new double[size], new double[size]);
    return alpha;
  }

  double[] exportedPrevious() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] previous = new double[size];
    NativeBridge.exportState(fit, partition, new long[5], new double[size], previous, new double[size]);
    return previous;
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

  // The order of the coordinates, in plain Java.

  /** Visits the coordinates of a round; the cursor after it. */
  long visit(long cursor, IntConsumer minimise) {
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
        minimise.accept(i);
        visited++;
      }
      cursor++;
    }
    return cursor;
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
