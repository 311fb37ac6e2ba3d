package dwell.jni;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** Coordinates are columns, least squares with an elastic net. */
final class PrimalProblem extends Problem {
  final boolean centred;
  final double[] mean;
  final double[] variance;
  final double[] weights;
  double l1 = 0.02;
  double scaleFactor = 1.25;

  PrimalProblem(Random random, int m, int n, Values values, boolean weighted, boolean centred) {
    super(random, m, n, values, n + 1);
    this.centred = centred;
    weights = weighted ? random.doubles(m, 0.5, 2.0).toArray() : null;
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += weight(j);
    }
    totalWeight = m == 0 ? 1.0 : sum;
    mean = new double[n];
    variance = new double[n];
    double[] deviation = new double[n];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        mean[i] += weight(j) * dense[i][j] / totalWeight;
      }
      for (int j = 0; j < m; j++) {
        variance[i] += weight(j) * Math.pow(dense[i][j] - mean[i], 2) / totalWeight;
      }
      deviation[i] = Math.sqrt(variance[i]);
    }
    double mass = 0.0;
    for (int j = 0; j < m; j++) {
      mass += weight(j) * shared[j] / totalWeight;
    }
    for (int j = 0; centred && j < m; j++) {
      shared[j] -= mass;
    }
    fields.put("mean", mean);
    fields.put("variance", variance);
    fields.put("deviation", deviation);
    fields.put("weights", weights);
  }

  double weight(int row) {
    return weights == null ? 1.0 : weights[row];
  }

  @Override
  long flags() {
    return (certificate ? NativeBridge.CERTIFICATE : 0) + (centred ? NativeBridge.CENTRED : 0);
  }

  @Override
  int loss() {
    return 0;
  }

  @Override
  double[] settings() {
    return CdLayout.primalSettings(sigmaPrime, l1, l2, totalWeight, scaleFactor, theta1, theta2, points);
  }

  @Override
  int round(Call c) {
    return NativeBridge.primalRound(c.control, c.settings, new int[][] {c.offsets}, new int[][] {c.indices},
        new float[][] {c.values32}, new double[][] {c.values64}, of(c, "mean"), of(c, "variance"), of(c, "deviation"),
        c.field("weights"), c.shared, c.result, c.cancellation);
  }

  @Override
  int product(Call c) {
    return NativeBridge.primalProduct(c.control, c.settings, new int[][] {c.offsets}, new int[][] {c.indices},
        new float[][] {c.values32}, new double[][] {c.values64}, of(c, "mean"), of(c, "variance"), of(c, "deviation"),
        c.field("weights"), c.result, c.cancellation);
  }

  private static double[][] of(Call c, String name) {
    return new double[][] {c.field(name)};
  }

  private double column(int i, int j) {
    return dense[i][j] - (centred ? mean[i] : 0.0);
  }

  private double l1Of(int i) {
    return scaleFactor > 0 ? l1 * Math.sqrt(scaleFactor * variance[i]) : l1;
  }

  private double l2Of(int i) {
    return scaleFactor > 0 ? l2 * scaleFactor * variance[i] : l2;
  }

  @Override
  double value(double[] alpha) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += l1Of(i) * Math.abs(alpha[i]) + 0.5 * l2Of(i) * alpha[i] * alpha[i];
    }
    return sum;
  }

  @Override
  double[] times(double[] coefficients) {
    double[] product = new double[m];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) {
        product[j] += coefficients[i] * column(i, j);
      }
    }
    return product;
  }

  @Override
  double kappa(double[] step) {
    double sum = 0.0;
    for (int i = 0; centred && i < n; i++) {
      sum += mean[i] * step[i];
    }
    return sum;
  }

  /** x_i = c_i^T (s r) / S. */
  private double correlation(int i, double[] r) {
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
      sum += weight(j) * column(i, j) * r[j];
    }
    return sum / totalWeight;
  }

  private double meanSquare(int i) {
    return variance[i] + (centred ? 0.0 : mean[i] * mean[i]);
  }

  @Override
  Map<Integer, Double> certificate() {
    double conjugate = 0.0;
    double ratio = 0.0;
    double correlation = 0.0;
    for (int i = 0; i < n; i++) {
      double x = Math.abs(correlation(i, shared));
      conjugate += Math.pow(Math.max(x - l1Of(i), 0.0), 2) / (2 * l2Of(i));
      ratio = Math.max(ratio, x / l1Of(i));
      correlation = Math.max(correlation, x / Math.sqrt(meanSquare(i)));
    }
    return new LinkedHashMap<>(Map.of(CdLayout.CONJUGATE, conjugate, CdLayout.RATIO, ratio, CdLayout.CORRELATION, correlation));
  }

  @Override
  Step referenceRound(double[] alpha, long cursor) {
    double[] after = alpha.clone();
    double[] r = shared.clone();
    long end = visit(cursor, i -> {
      double q = sigmaPrime * meanSquare(i);
      double t = q * after[i] + correlation(i, r);
      double shrunk = Math.signum(t) * Math.max(Math.abs(t) - l1Of(i), 0.0);
      double next = q + l2Of(i) > 0 ? shrunk / (q + l2Of(i)) : l1Of(i) > 0 ? 0.0 : after[i];
      for (int j = 0; j < m; j++) {
        r[j] -= sigmaPrime * (next - after[i]) * column(i, j);
      }
      after[i] = next;
    });
    for (int i = 0; i < n; i++) {
      after[i] -= alpha[i];
    }
    return new Step(after, end);
  }
}
