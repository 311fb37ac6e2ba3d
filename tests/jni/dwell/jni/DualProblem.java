package dwell.jni;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Coordinates are rows, any loss with an L2 penalty. Every seventh row is empty. */
final class DualProblem extends Problem {
  static final int SQUARED = 0;
  static final int LOGISTIC = 1;
  static final int HINGE = 2;
  static final int SMOOTHED_HINGE = 3;
  static final int SQUARED_HINGE = 4;

  final int loss;
  final double[] labels;
  final double[] weights;
  final double[] norms;
  /** Null without intercept. */
  final double[] projections;
  final double[] scale;
  final double gamma = 0.5;
  /** The part of the intercept in every norm, and the intercept. */
  final double h;
  final double offset;
  double[] candidates = {0.0, -0.25, 1.5};
  /** Rows of the first of two blocks; 0 for one block. */
  int cut = 0;

  DualProblem(Random random, int m, int n, Values values, boolean weighted, boolean intercept, boolean scaled, int loss) {
    super(random, m, n, values, 7);
    this.loss = loss;
    labels = loss == SQUARED
        ? random.doubles(n, -2.0, 2.0).toArray()
        : random.doubles(n).map(x -> x < 0.6 ? 1.0 : -1.0).toArray();
    weights = weighted ? random.doubles(n, 0.5, 2.0).toArray() : null;
    scale = scaled ? random.doubles(m, 0.5, 1.5).map(x -> x < 0.6 ? 0.0 : x).toArray() : null;
    // The mean of all rows; this partition has some of them.
    double[] mean = random.doubles(m, -0.5, 0.5).toArray();
    norms = new double[n];
    projections = intercept ? new double[n] : null;
    totalWeight = 1.0;
    for (int i = 0; i < n; i++) {
      totalWeight += 2 * weight(i);
      for (int j = 0; j < m; j++) {
        norms[i] += scale(j) * dense[i][j] * dense[i][j];
        if (intercept) {
          projections[i] += scale(j) * mean[j] * dense[i][j];
        }
      }
    }
    double meanNorm = 0.0;
    for (int j = 0; j < m; j++) {
      meanNorm += scale(j) * mean[j] * mean[j];
    }
    h = intercept ? meanNorm + 0.4 : 0.0;
    offset = intercept ? 0.2 : 0.0;
    fields.put("labels", labels);
    fields.put("weights", weights);
    fields.put("scale", scale);
    fields.put("mean", intercept ? mean : null);
  }

  double weight(int row) {
    return weights == null ? 1.0 : weights[row];
  }

  private double scale(int feature) {
    return scale == null ? 1.0 : scale[feature];
  }

  @Override
  long flags() {
    return certificate ? NativeBridge.CERTIFICATE : 0;
  }

  @Override
  int loss() {
    return loss;
  }

  @Override
  double[] settings() {
    return CdLayout.dualSettings(sigmaPrime, l2, totalWeight, gamma, h, offset, theta1, theta2, candidates, points);
  }

  @Override
  int round(Call c) {
    Blocks b = new Blocks(c);
    return NativeBridge.dualRound(c.control, c.settings, b.offsets, b.indices, b.values32, b.values64, b.labels, b.weights,
        c.field("scale"), c.field("mean"), c.shared, c.result, c.cancellation);
  }

  @Override
  int product(Call c) {
    Blocks b = new Blocks(c);
    return NativeBridge.dualProduct(c.control, c.settings, b.offsets, b.indices, b.values32, b.values64, b.labels, b.weights,
        c.field("scale"), c.field("mean"), c.result, c.cancellation);
  }

  /** The arrays of a call: one block, or two if the problem is cut. */
  private final class Blocks {
    final int[][] offsets;
    final int[][] indices;
    final float[][] values32;
    final double[][] values64;
    final double[][] labels;
    final double[][] weights;

    Blocks(Call c) {
      double[] y = c.field("labels");
      double[] s = c.field("weights");
      if (cut == 0) {
        offsets = new int[][] {c.offsets};
        indices = new int[][] {c.indices};
        values32 = new float[][] {c.values32};
        values64 = new double[][] {c.values64};
        labels = new double[][] {y};
        weights = new double[][] {s};
      } else {
        int at = c.offsets[cut];
        int end = c.offsets[n];
        int[] rest = IntStream.rangeClosed(cut, n).map(i -> c.offsets[i] - at).toArray();
        boolean dense = c.indices == null;
        offsets = new int[][] {dense ? null : Arrays.copyOf(c.offsets, cut + 1), dense ? null : rest};
        indices = new int[][] {
            dense ? null : Arrays.copyOf(c.indices, at), dense ? null : Arrays.copyOfRange(c.indices, at, end)};
        float[] v = c.values32;
        values32 = new float[][] {v == null ? null : Arrays.copyOf(v, at), v == null ? null : Arrays.copyOfRange(v, at, end)};
        double[] x = c.values64;
        values64 = new double[][] {x == null ? null : Arrays.copyOf(x, at), x == null ? null : Arrays.copyOfRange(x, at, end)};
        labels = new double[][] {Arrays.copyOf(y, cut), Arrays.copyOfRange(y, cut, n)};
        weights = new double[][] {s == null ? null : Arrays.copyOf(s, cut), s == null ? null : Arrays.copyOfRange(s, cut, n)};
      }
    }
  }

  @Override
  double value(double[] alpha) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += weight(i) / totalWeight * conjugate(alpha[i], labels[i]);
    }
    return sum;
  }

  /** loss*(-a). */
  private double conjugate(double a, double y) {
    double p = y * a;
    if (loss != SQUARED && (p < 0.0 || loss != SQUARED_HINGE && p > 1.0)) {
      return Double.POSITIVE_INFINITY;
    }
    return switch (loss) {
      case SQUARED -> a * a / 2 - y * a;
      case LOGISTIC -> entropy(p) + entropy(1.0 - p);
      case HINGE -> -p;
      case SMOOTHED_HINGE -> -p + gamma * p * p / 2;
      case SQUARED_HINGE -> -p + p * p / 4;
      default -> throw new IllegalStateException("loss " + loss);
    };
  }

  private static double entropy(double p) {
    return p == 0.0 ? 0.0 : p * Math.log(p);
  }

  private double loss(double z, double y) {
    double room = 1.0 - y * z;
    return switch (loss) {
      case SQUARED -> (z - y) * (z - y) / 2;
      case LOGISTIC -> Math.log1p(Math.exp(-y * z));
      case HINGE -> Math.max(0.0, room);
      case SMOOTHED_HINGE -> room <= 0.0 ? 0.0 : room >= gamma ? room - gamma / 2 : room * room / (2 * gamma);
      case SQUARED_HINGE -> Math.pow(Math.max(0.0, room), 2);
      default -> throw new IllegalStateException("loss " + loss);
    };
  }

  /** s_i / (S l2). */
  private double share(int i) {
    return weight(i) / (totalWeight * l2);
  }

  @Override
  double[] times(double[] step) {
    double[] product = new double[m];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        product[j] += share(i) * step[i] * scale(j) * dense[i][j];
      }
    }
    return product;
  }

  @Override
  double kappa(double[] step) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += share(i) * step[i];
    }
    return sum;
  }

  private double dot(int i, double[] u) {
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += dense[i][j] * u[j];
    }
    return sum;
  }

  @Override
  Map<Integer, Double> certificate() {
    Map<Integer, Double> slots = new LinkedHashMap<>();
    for (int c = 0; c < candidates.length; c++) {
      double sum = 0.0;
      for (int i = 0; i < n; i++) {
        sum += weight(i) / totalWeight * loss(dot(i, shared) + candidates[c], labels[i]);
      }
      slots.put(CdLayout.LOSSES + c, sum);
    }
    return slots;
  }

  @Override
  Step referenceRound(double[] alpha, long cursor) {
    double[] after = alpha.clone();
    double[] u = shared.clone();
    // Sums of the changes, and of the changes times projections.
    double[] sums = new double[2];
    long end = visit(cursor, i -> {
      double e = projections == null ? 0.0 : projections[i];
      double q = sigmaPrime * share(i) * (norms[i] - 2 * e + h);
      double z = dot(i, u) + offset + sums[0] * (h - e) - sums[1];
      double next = minimised(after[i], z, labels[i], q);
      double change = sigmaPrime * share(i) * (next - after[i]);
      for (int j = 0; j < m; j++) {
        u[j] += change * scale(j) * dense[i][j];
      }
      if (projections != null) {
        sums[0] += change;
        sums[1] += change * e;
      }
      after[i] = next;
    });
    for (int i = 0; i < n; i++) {
      after[i] -= alpha[i];
    }
    return new Step(after, end);
  }

  private double minimised(double a, double z, double y, double q) {
    double p = y * a;
    double room = 1.0 - y * z;
    return switch (loss) {
      case SQUARED -> a + (y - z - a) / (1.0 + q);
      case LOGISTIC -> y * logistic(p, y * z, q);
      case HINGE -> y * (q == 0.0 ? 1.0 : unit(p + room / q));
      case SMOOTHED_HINGE -> y * unit((room + q * p) / (q + gamma));
      case SQUARED_HINGE -> y * Math.max(0.0, (room + q * p) / (q + 0.5));
      default -> throw new IllegalStateException("loss " + loss);
    };
  }

  private static double unit(double p) {
    return Math.max(0.0, Math.min(1.0, p));
  }

  /** The root of log(p' / (1 - p')) + margin + q (p' - p), by bisection in the logit of p'. */
  private static double logistic(double p, double margin, double q) {
    double low = -margin - q * (1.0 - p);
    double high = -margin + q * p;
    for (int k = 0; k < 200; k++) {
      double t = (low + high) / 2;
      if (t + margin + q * (1.0 / (1.0 + Math.exp(-t)) - p) < 0.0) {
        low = t;
      } else {
        high = t;
      }
    }
    return 1.0 / (1.0 + Math.exp(-(low + high) / 2));
  }
}
