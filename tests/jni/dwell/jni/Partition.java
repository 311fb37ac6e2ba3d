package dwell.jni;

import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/** The arrays of a random partition of n coordinates, m numbers each. */
abstract class Partition {
  /** No fit is used twice, because a freed one does not come back. */
  private static final AtomicLong NEXT_FIT = new AtomicLong(1);

  /** The form of the matrix, and the type of its values. */
  enum Values {
    ONES, FLOATS, DOUBLES, DENSE_FLOATS, DENSE_DOUBLES;

    static final List<Values> SPARSE = List.of(ONES, FLOATS, DOUBLES);

    boolean isDense() {
      return this == DENSE_FLOATS || this == DENSE_DOUBLES;
    }

    boolean areFloats() {
      return this == FLOATS || this == DENSE_FLOATS;
    }

    static Values any(Random random) {
      return values()[random.nextInt(values().length)];
    }
  }

  final int m;
  final int n;
  final int[] offsets;
  /** Null in a dense matrix. */
  final int[] indices;
  final float[] values32;
  final double[] values64;
  /** The other arrays of the partition by the names of the arguments; null for an array that the call leaves out. */
  final Map<String, double[]> fields = new LinkedHashMap<>();
  protected final double[][] dense;

  final long fit = NEXT_FIT.getAndIncrement();
  int partition = 3;
  long seed = 42;
  long budget;

  /** Every coordinate has an entry, except that every {@code emptyFrom}-th one has none. */
  Partition(Random random, int m, int n, Values values, int emptyFrom) {
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
          dense[i][j] = values == Values.ONES ? 1.0
              : values.areFloats() ? (float) random.nextGaussian()
              : random.nextGaussian();
        }
        if (values.isDense() || dense[i][j] != 0.0) {
          allIndices[count] = j;
          all[count++] = dense[i][j];
        }
      }
      offsets[i + 1] = count;
    }
    indices = values.isDense() ? null : Arrays.copyOf(allIndices, count);
    values64 = values == Values.ONES || values.areFloats() ? null : Arrays.copyOf(all, count);
    values32 = values.areFloats() ? new float[count] : null;
    for (int k = 0; values32 != null && k < count; k++) {
      values32[k] = (float) all[k];
    }
  }

  /** The arguments of a call. A test spoils them one at a time. */
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
  Call call(long[] control, double[] settings, byte[] shared, byte[] result) {
    Call c = new Call();
    c.control = control;
    c.settings = settings;
    c.offsets = offsets;
    c.indices = indices;
    c.values32 = values32;
    c.values64 = values64;
    c.fields = fields;
    c.shared = shared;
    c.result = result;
    return c;
  }

  /** The same call with copies of the arrays. */
  static Call copied(Call c) {
    c.offsets = c.offsets.clone();
    c.indices = c.indices == null ? null : c.indices.clone();
    c.values32 = c.values32 == null ? null : c.values32.clone();
    c.values64 = c.values64 == null ? null : c.values64.clone();
    c.fields = new LinkedHashMap<>(c.fields);
    c.fields.replaceAll((name, field) -> field == null ? null : field.clone());
    return c;
  }

  static byte[] bytes(double... numbers) {
    byte[] bytes = new byte[8 * numbers.length];
    ResultHeader.doubles(bytes).put(numbers);
    return bytes;
  }

  /** A copy of the vector of a result. */
  static double[] vector(byte[] result) {
    DoubleBuffer buffer = ResultHeader.vector(result);
    double[] vector = new double[buffer.remaining()];
    buffer.get(vector);
    return vector;
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
