package dwell.jni;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Rows of one partition, the calls of model averaging on them, and the same steps in plain Java on all coefficients at once. */
final class SgdProblem extends Partition {
  static final int SOFTMAX = 5;
  static final int CLASSES = 3;

  /** A native call. */
  interface Native {
    void run(long[] control, double[] settings, int[][] offsets, int[][] features, float[][] values32, double[][] values64,
        double[][] labels, double[][] weights, double[] scale, byte[] shared, byte[] result, Cancellation cancellation);
  }

  static final Native DESCEND = NativeBridge::sgdDescend;
  static final Native SEARCH = NativeBridge::sgdSearch;

  final int loss;
  final int outputs;
  final double[] labels;
  final double[] weights;
  final double[] scale;
  final double[] shared;
  boolean intercept = true;
  double gamma = 0.5;
  double l1;
  double l2;
  double weightFactor = 0.75;
  double eta0 = 0.1;
  double rate = 0.2;
  int kind = 1;
  int threads = 1;
  double share = 0.5;
  double[] candidates = {0.01, 0.1};
  long cursor;
  long steps;

  SgdProblem(Random random, int features, int rows, Values values, boolean weighted, boolean scaled, int loss) {
    super(random, features, rows, values, 7);
    this.loss = loss;
    outputs = loss == SOFTMAX ? CLASSES : 1;
    labels = switch (loss) {
      case DualProblem.SQUARED -> random.doubles(n, -2.0, 2.0).toArray();
      case SOFTMAX -> random.ints(n, 0, CLASSES).asDoubleStream().toArray();
      default -> random.doubles(n).map(x -> x < 0.6 ? 1.0 : -1.0).toArray();
    };
    weights = weighted ? random.doubles(n, 0.5, 2.0).toArray() : null;
    scale = scaled ? random.doubles(m, 0.5, 1.5).toArray() : null;
    shared = random.doubles((long) outputs * (m + 1), -0.5, 0.5).toArray();
    fields.put("labels", labels);
    fields.put("weights", weights);
    fields.put("scale", scale);
  }

  Call call(Native which) {
    long flags = intercept ? NativeBridge.SGD_INTERCEPT : 0;
    long[] control = SgdLayout.control(partition, seed, m, loss, outputs, flags, budget, cursor, steps, kind, threads);
    double[] settings = which == DESCEND ? SgdLayout.descent(gamma, l1, l2, weightFactor, eta0, rate, share)
        : SgdLayout.search(gamma, l1, l2, weightFactor, rate, candidates);
    return call(control, settings, bytes(shared), newResult(which));
  }

  byte[] newResult(Native which) {
    return ResultHeader.allocate(which == SEARCH ? 0 : shared.length);
  }

  static void run(Native which, Call c) {
    which.run(c.control, c.settings, new int[][] {c.offsets}, new int[][] {c.indices}, new float[][] {c.values32},
        new double[][] {c.values64}, new double[][] {c.field("labels")}, new double[][] {c.field("weights")}, c.field("scale"), c.shared,
        c.result, c.cancellation);
  }

  /** The result of a call. */
  byte[] run(Native which) {
    Call c = call(which);
    run(which, c);
    return c.result;
  }

  double weight(int row) {
    return weights == null ? 1.0 : weights[row];
  }

  private double scale(int feature) {
    return scale == null ? 1.0 : scale[feature];
  }

  private double[] predictions(int row, double[] model) {
    double[] z = Arrays.copyOfRange(model, m * outputs, model.length);
    for (int p = 0; p < m * outputs; p++) {
      z[p % outputs] += dense[row][p / outputs] * model[p];
    }
    return z;
  }

  /** The loss of a row at a model, and then its derivatives. */
  private double[] differentiate(int row, double[] model) {
    double[] z = predictions(row, model);
    double y = labels[row];
    double room = 1.0 - y * z[0];
    return switch (loss) {
      case DualProblem.SQUARED -> new double[] {(z[0] - y) * (z[0] - y) / 2, z[0] - y};
      case DualProblem.LOGISTIC -> new double[] {Math.log1p(Math.exp(-y * z[0])), -y / (1.0 + Math.exp(y * z[0]))};
      case DualProblem.HINGE -> new double[] {Math.max(0.0, room), room > 0.0 ? -y : 0.0};
      case DualProblem.SMOOTHED_HINGE -> {
        double part = Math.max(0.0, Math.min(1.0, room / gamma));
        yield new double[] {room > gamma ? room - gamma / 2 : gamma * part * part / 2, -y * part};
      }
      case DualProblem.SQUARED_HINGE -> new double[] {Math.pow(Math.max(0.0, room), 2), -2.0 * y * Math.max(0.0, room)};
      case SOFTMAX -> {
        double total = Arrays.stream(z).map(Math::exp).sum();
        double[] all = new double[1 + outputs];
        all[0] = Math.log(total) - z[(int) y];
        for (int c = 0; c < outputs; c++) {
          all[1 + c] = Math.exp(z[c]) / total - (c == (int) y ? 1.0 : 0.0);
        }
        yield all;
      }
      default -> throw new IllegalStateException("loss " + loss);
    };
  }

  /** The result that a call should give: some slots, and the vector. */
  record Expected(double lossSum, double weightSum, double entries, long rows, long cursor, long steps, double[] vector) {}

  Expected descended() {
    double[] model = shared.clone();
    double[] sums = new double[3];
    long[] t = {steps};
    long end = visit(cursor, i -> {
      sums[0] += weight(i) * stepped(i, model, eta0, t[0]++);
      sums[1] += weight(i);
      sums[2] += offsets[i + 1] - offsets[i];
    });
    long rows = t[0] - steps;
    return new Expected(sums[0], sums[1], sums[2], rows, end, t[0], Arrays.stream(model).map(w -> share * w).toArray());
  }

  /** Makes the step on a row at a time; the loss of the row before. */
  private double stepped(int i, double[] model, double first, long t) {
    double eta = switch (kind) {
      case 0 -> first / Math.sqrt(1.0 + rate * t);
      case 1 -> first / (1.0 + rate * first * t);
      default -> throw new IllegalStateException("schedule " + kind);
    };
    double[] row = differentiate(i, model);
    for (int p = 0; p < model.length; p++) {
      int j = p / outputs;
      double step = eta * weight(i) * weightFactor * row[1 + p % outputs];
      if (j < m) {
        double w = (1.0 - eta * l2) * model[p] - step * scale(j) * dense[i][j];
        model[p] = Math.copySign(Math.max(0.0, Math.abs(w) - eta * l1 * Math.sqrt(scale(j))), w);
      } else if (intercept) {
        model[p] -= step;
      }
    }
    return row[0];
  }

  /** Rows that a search makes its steps on; the losses are of as many rows after them. */
  int searchedRows() {
    return (int) Math.min(budget, n / 2);
  }

  /** The objective that a search should give each candidate. */
  double[] searched() {
    int count = searchedRows();
    List<Integer> rows = new ArrayList<>();
    long whole = budget;
    budget = 2L * count;
    visit(cursor, rows::add);
    budget = whole;
    return Arrays.stream(candidates).map(eta -> {
      double[] model = shared.clone();
      for (int k = 0; k < count; k++) {
        stepped(rows.get(k), model, eta, steps + k);
      }
      double losses = 0.0;
      double total = 0.0;
      for (int i : rows.subList(count, 2 * count)) {
        losses += weight(i) * differentiate(i, model)[0];
        total += weight(i);
      }
      double penalty = 0.0;
      for (int p = 0; p < m * outputs; p++) {
        double u = Math.abs(model[p]) / Math.sqrt(scale(p / outputs));
        penalty += l1 * u + l2 / 2 * u * u;
      }
      return losses / total + penalty;
    }).toArray();
  }
}
