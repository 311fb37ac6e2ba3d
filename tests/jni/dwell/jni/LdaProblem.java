package dwell.jni;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Documents of one partition, the calls of LDA on them, and the same steps in plain Java: in double precision, with all topics of all
 * words at every step.
 */
final class LdaProblem extends Partition {

  /** A native call. */
  interface Native {
    void run(long[] control, double[] settings, double[] alpha, int[][] offsets, int[][] words, float[][] values32, double[][] values64,
        byte[] shared, byte[] result, Cancellation cancellation);
  }

  static final Native ROUND = NativeBridge::ldaRound;
  static final Native BOUND = NativeBridge::ldaBound;

  final int topics;
  final double[] alpha;
  final float[] shared;
  boolean concentration;
  boolean mean;
  int batch = 4;
  int workers = 2;
  int cap = 30;
  int threads = 1;
  long corpus = 50;
  long cursor;
  long seen;
  int first;
  int last;
  int sample;
  double eta = 0.1;
  double tau0 = 5.0;
  double kappa = 0.6;
  double base = 8.0;
  double tolerance = 1e-3;
  double overRelaxation;
  double pruning;
  double share = 0.5;

  /** Every third document is empty; counts are whole numbers from 1 to 4 where they are not all 1. */
  LdaProblem(Random random, int words, int documents, Values values, int topics) {
    super(random, words, documents, values, 3);
    this.topics = topics;
    last = documents;
    for (int d = 0; d < n; d++) {
      for (int entry = offsets[d]; entry < offsets[d + 1]; entry++) {
        int count = values == Values.ONES ? 1 : 1 + random.nextInt(4);
        dense[d][indices[entry]] = count;
        if (values32 != null) {
          values32[entry] = count;
        } else if (values64 != null) {
          values64[entry] = count;
        }
      }
    }
    alpha = random.doubles(topics, 0.1, 1.0).toArray();
    shared = new float[words * topics];
    for (int i = 0; i < shared.length; i++) {
      shared[i] = 0.5f + 2.5f * random.nextFloat();
    }
    fields.put("alpha", alpha);
  }

  Call call(Native which) {
    long[] control = which == BOUND ? LdaLayout.bound(fit, partition, m, topics, first, last, cap, threads)
        : LdaLayout.round(fit, partition, seed, m, topics, batch, concentration, mean, budget, cursor, seen, workers, cap, corpus,
            sample, threads);
    double[] settings = LdaLayout.settings(eta, tau0, kappa, base, tolerance, overRelaxation, pruning, share);
    int length = which == BOUND ? ResultHeader.BYTES : LdaLayout.length(m, topics, concentration);
    return call(control, settings, bytes(shared), new byte[length]);
  }

  /** A shared model. Its padding, if any, is NaN. */
  static byte[] bytes(float[] numbers) {
    ByteBuffer buffer = ByteBuffer.allocate(8 * ((numbers.length + 1) / 2)).order(ByteOrder.LITTLE_ENDIAN);
    for (float number : numbers) {
      buffer.putFloat(number);
    }
    if (buffer.hasRemaining()) {
      buffer.putInt(-1);
    }
    return buffer.array();
  }

  /** The numbers of the vector of a round's result, without the padding, which is 0. */
  static float[] model(byte[] result, int entries) {
    ByteBuffer buffer = ByteBuffer.wrap(result).order(ByteOrder.LITTLE_ENDIAN).position(ResultHeader.BYTES);
    float[] numbers = new float[entries];
    for (int i = 0; i < entries; i++) {
      numbers[i] = buffer.getFloat();
    }
    if (entries % 2 == 1 && buffer.getInt() != 0) {
      throw new AssertionError("the padding is not 0");
    }
    return numbers;
  }

  float[] model(byte[] result) {
    return model(result, shared.length);
  }

  /** A call on one block. */
  static void run(Native which, Call c) {
    run(which, c, c.field("alpha"));
  }

  static void run(Native which, Call c, double[] alpha) {
    which.run(c.control, c.settings, alpha, c.offsets == null ? null : new int[][] {c.offsets},
        c.indices == null ? null : new int[][] {c.indices}, c.values32 == null ? null : new float[][] {c.values32},
        c.values64 == null ? null : new double[][] {c.values64}, c.shared, c.result, c.cancellation);
  }

  /** The result of a call on blocks of so many documents; their arrays are copies. */
  byte[] runInBlocks(Native which, int documents) {
    Call c = call(which);
    int count = (n + documents - 1) / documents;
    int[][] offsets = new int[count][];
    int[][] words = new int[count][];
    float[][] floats = new float[count][];
    double[][] doubles = new double[count][];
    for (int block = 0; block < count; block++) {
      int first = block * documents;
      int end = Math.min(n, first + documents);
      int from = c.offsets[first];
      int until = c.offsets[end];
      offsets[block] = IntStream.rangeClosed(first, end).map(d -> c.offsets[d] - from).toArray();
      words[block] = Arrays.copyOfRange(c.indices, from, until);
      floats[block] = c.values32 == null ? null : Arrays.copyOfRange(c.values32, from, until);
      doubles[block] = c.values64 == null ? null : Arrays.copyOfRange(c.values64, from, until);
    }
    which.run(c.control, c.settings, c.field("alpha"), offsets, words, floats, doubles, c.shared, c.result, c.cancellation);
    return c.result;
  }

  /** The result of a call. */
  byte[] run(Native which) {
    Call c = call(which);
    run(which, c);
    return c.result;
  }

  /** The result that a round should give; touched says whether a document of it has the word. */
  record Expected(double tokens, double rhoSum, int updates, int documents, long cursor, boolean[] touched, double[] vector) {}

  /** With exactly {@code cap} iterations of each document. */
  Expected stepped() {
    double[] lambda = IntStream.range(0, shared.length).mapToDouble(i -> shared[i] + eta).toArray();
    boolean[] touched = new boolean[m];
    int documents = 0;
    int updates = 0;
    double tokens = 0.0;
    double rhoSum = 0.0;
    long at = cursor;
    int[] order = new int[n];
    while (documents < budget) {
      double[] statistics = new double[lambda.length];
      double[] sums = sums(lambda);
      int size = 0;
      while (size < batch && documents < budget) {
        long one = budget;
        budget = 1;
        at = visit(at, d -> order[0] = d);
        budget = one;
        double[] counts = dense[order[0]];
        double total = Arrays.stream(counts).sum();
        if (total == 0.0) {
          continue;
        }
        infer(counts, lambda, sums, statistics);
        for (int w = 0; w < m; w++) {
          touched[w] |= counts[w] > 0.0;
        }
        tokens += total;
        documents++;
        size++;
      }
      double before = seen + (double) workers * (documents - size);
      double rho = 1.0 - Math.pow(1.0 - Math.pow(tau0 + 1.0 + before / base, -kappa), workers * size / base);
      for (int i = 0; i < lambda.length; i++) {
        lambda[i] = (1.0 - rho) * lambda[i] + rho * (eta + corpus / (double) size * statistics[i]);
      }
      rhoSum += rho;
      updates++;
    }
    return new Expected(tokens, rhoSum, updates, documents, at, touched, Arrays.stream(lambda).map(x -> share * (x - eta)).toArray());
  }

  /** Sum over the words of each topic. */
  private double[] sums(double[] lambda) {
    double[] sums = new double[topics];
    for (int i = 0; i < lambda.length; i++) {
      sums[i % topics] += lambda[i];
    }
    return sums;
  }

  /** Gamma of a document; adds to the statistics. */
  private double[] infer(double[] counts, double[] lambda, double[] sums, double[] statistics) {
    double total = Arrays.stream(counts).sum();
    double[] gamma = Arrays.stream(alpha).map(a -> a + total / topics).toArray();
    for (int iteration = 1; iteration <= cap; iteration++) {
      double[] next = alpha.clone();
      for (int w = 0; w < m; w++) {
        double[] phi = new double[topics];
        double sum = 0.0;
        for (int k = 0; k < topics && counts[w] > 0.0; k++) {
          double x = lambda[w * topics + k];
          phi[k] = Math.exp(digamma(gamma[k]) + (mean ? Math.log(x / sums[k]) : digamma(x) - digamma(sums[k])));
          sum += phi[k];
        }
        for (int k = 0; k < topics && counts[w] > 0.0; k++) {
          double mass = counts[w] * phi[k] / sum;
          next[k] += mass;
          if (iteration == cap) {
            statistics[w * topics + k] += mass;
          }
        }
      }
      gamma = next;
    }
    return gamma;
  }

  /** By its recurrence, up to where a short series is exact. */
  static double digamma(double x) {
    double below = 0.0;
    double y = x;
    while (y < 12.0) {
      below += 1.0 / y;
      y += 1.0;
    }
    double r = 1.0 / (y * y);
    return Math.log(y) - 0.5 / y - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240))) - below;
  }
}
