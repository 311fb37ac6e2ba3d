package dwell.jni;

import static dwell.jni.Partition.bytes;
import static dwell.jni.Partition.vector;
import static dwell.jni.Spoiling.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;


import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pass of Newton's method and the quadratic model: a case by hand, and wrong arguments, each an exception that names the argument. */
class PassTest {
  private static final double[] NONE = {};
  private static final long ALL =
      NativeBridge.PASS_INTERCEPT | NativeBridge.PASS_GRADIENT | NativeBridge.PASS_MOMENTS | NativeBridge.PASS_HESSIAN;
  private static final int SQUARED = 0;
  private static final int SMOOTHED_HINGE = 3;
  private static final int SOFTMAX = 5;
  private static final int HUBER = 6;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, NativeBridge.stateEntries());
  }

  /** A pass over two features, with centre (1, 0) and model 2 x~_1 + 1. */
  private static long begin(long flags) {
    return NativeBridge.passBegin(PassLayout.control(SQUARED, 1, flags, 0.0, 2), new double[] {1, 0}, bytes(2, 0, 1),
        new double[] {0, 0, 1}, new double[] {1}, new double[] {1, 2, 3}, NONE, NONE, NONE);
  }

  private static void dense(long pass) {
    NativeBridge.passBlock(pass, null, null, new float[] {2, 1, 0, 3}, null, new double[] {2, 1}, new double[] {1, 2});
  }

  @Test
  void byHand() {
    long pass = begin(ALL);
    dense(pass);
    // The same rows again, sparse and with weight 1.
    NativeBridge.passBlock(pass, new int[] {0, 2, 3}, new int[] {0, 1, 1}, null, new double[] {2, 1, 3}, new double[] {2, 1}, null);
    byte[] result = new byte[PassLayout.length(2, 1, 1)];
    NativeBridge.passEnd(pass, 0, result);
    // Rows (1, 1, 1) and (-1, 3, 1), predictions 3 and -1, errors 1 and -2, weights 2 and 3.
    assertEquals(2 * 0.5 + 3 * 2, ResultHeader.get(result, PassLayout.LOSS_SUM));
    assertEquals(2 * 2 + 3 * 0.5, ResultHeader.get(result, PassLayout.LOSSES));
    assertEquals(4, ResultHeader.get(result, PassLayout.ROWS));
    assertEquals(7, ResultHeader.get(result, ResultHeader.NONZEROS));
    // The second row, sparse: |0| + 2 * 3 + 3 and the centre's 1 more than its own.
    assertEquals(1 + 2 * 3 + 3, ResultHeader.get(result, PassLayout.REACH));
    assertArrayEquals(new double[] {
        2 + 6, 2 - 18, 2 - 6,
        2 - 3, 2 + 9,
        2 + 3, 2 + 27,
        2 + 3,
        2 - 9, 2 + 27,
        2 - 3, 2 + 9, 5}, vector(result));
  }

  @Test
  void softmaxByHand() {
    // Two rows of one feature with centre 0, in three classes of equal predictions.
    long pass = NativeBridge.passBegin(PassLayout.control(SOFTMAX, 3, ALL, 0.0, 1), new double[] {0}, bytes(new double[6]), NONE, NONE,
        new double[] {1, 0, 2, 1, 0, 5}, NONE, NONE, NONE);
    NativeBridge.passBlock(pass, null, null, null, new double[] {3, -6}, new double[] {0, 2}, null);
    byte[] result = new byte[PassLayout.length(1, 1, 3)];
    NativeBridge.passEnd(pass, 0, result);
    assertEquals(2 * Math.log(3), ResultHeader.get(result, PassLayout.LOSS_SUM), 1e-12);
    // Reaches 6, 13 and 5 of the second row: the two largest ones.
    assertEquals(19, ResultHeader.get(result, PassLayout.REACH));
    assertArrayEquals(new double[] {
        -2 - 2, -2 / 3.0 + 1 / 3.0,
        1 - 2, 2 / 3.0,
        1 + 4, 1 / 3.0 - 2 / 3.0,
        -3, 45,
        10, -2 / 3.0, 4 / 9.0,
        -5, 1 / 3.0, -2 / 9.0,
        10, -2 / 3.0, 4 / 9.0,
        -5, 1 / 3.0, -2 / 9.0,
        -5, 1 / 3.0, -2 / 9.0,
        10, -2 / 3.0, 4 / 9.0}, vector(result), 1e-12);
  }

  @Test
  void joined() {
    long whole = begin(ALL);
    dense(whole);
    dense(whole);
    byte[] expected = new byte[PassLayout.length(2, 1, 1)];
    NativeBridge.passEnd(whole, 0, expected);
    long into = begin(ALL);
    long from = begin(ALL);
    dense(into);
    dense(from);
    NativeBridge.passJoin(into, from);
    refused("no such pass", () -> dense(from));
    byte[] result = new byte[PassLayout.length(2, 1, 1)];
    NativeBridge.passEnd(into, 0, result);
    assertArrayEquals(vector(expected), vector(result));
    assertEquals(4, ResultHeader.get(result, PassLayout.ROWS));
    long last = begin(ALL);
    refused("joined", () -> NativeBridge.passJoin(last, from));
    refused("no such pass", () -> dense(last));
  }

  @Test
  void forked() {
    long first = begin(ALL);
    long second = NativeBridge.passFork(first);
    dense(second);
    NativeBridge.passJoin(first, second);
    byte[] result = new byte[PassLayout.length(2, 1, 1)];
    NativeBridge.passEnd(first, 0, result);
    assertEquals(0.5 + 2 * 2, ResultHeader.get(result, PassLayout.LOSS_SUM));
    assertEquals(2, ResultHeader.get(result, PassLayout.ROWS));
    refused("no such pass", () -> NativeBridge.passFork(first));
  }

  /** Of a row (2, 1) with label 1 and weight 3. Its variable was 1 / 4 after the earlier model, whose prediction is 1 / 2. */
  @Test
  void proximal() {
    long flags = NativeBridge.PASS_INTERCEPT | NativeBridge.PASS_GRADIENT | NativeBridge.PASS_PROXIMAL;
    long[] control = PassLayout.control(SMOOTHED_HINGE, 1, flags, 0.5, 2);
    double[] earlier = {0, 0, 0.5, 2};
    long pass = NativeBridge.passBegin(control, NONE, bytes(0, 0, 0.25), NONE, NONE, NONE, NONE, NONE, earlier);
    NativeBridge.passBlock(pass, null, null, new float[] {2, 1}, null, new double[] {1}, new double[] {3});
    byte[] result = new byte[ResultHeader.length(3)];
    NativeBridge.passEnd(pass, 0, result);
    // The corner at 3 / 4 is beyond gamma: the variable is 1.
    assertArrayEquals(new double[] {-6, -3, -3}, vector(result));
    assertEquals(3 * (0.75 - 0.25 * 0.75 * 0.75), ResultHeader.get(result, PassLayout.LOSS_SUM));
    assertEquals(2.25, ResultHeader.get(result, PassLayout.HINGE_SUM));
    refused("earlier", () -> NativeBridge.passBegin(control, NONE, bytes(0, 0, 0.25), NONE, NONE, NONE, NONE, NONE, new double[3]));
    refused("gamma", () -> NativeBridge.passBegin(control, NONE, bytes(0, 0, 0.25), NONE, NONE, NONE, NONE, NONE, new double[4]));
  }

  /** Sums of two rows, one dense and one sparse, about 0: the vector has the gradient alone. */
  private static double[] gradient(int loss, int outputs, double[] model, double... dual) {
    long[] control = PassLayout.control(loss, outputs, NativeBridge.PASS_INTERCEPT | NativeBridge.PASS_GRADIENT, 0.0, 2);
    long pass = NativeBridge.passBegin(control, NONE, bytes(model), NONE, NONE, NONE, dual, NONE, NONE);
    NativeBridge.passBlock(pass, null, null, new float[] {2, 1}, null, new double[] {0}, new double[] {3});
    NativeBridge.passBlock(pass, new int[] {0, 1}, new int[] {1}, null, new double[] {4}, new double[] {1}, null);
    byte[] result = new byte[ResultHeader.length(model.length)];
    NativeBridge.passEnd(pass, 0, result);
    double[] vector = new double[1 + model.length];
    vector[0] = ResultHeader.get(result, PassLayout.LOSS_SUM);
    ResultHeader.vector(result).get(vector, 1, model.length);
    return vector;
  }

  @Test
  void gradientAlone() {
    // Predictions 2 and 0, errors 2 and -1.
    assertArrayEquals(new double[] {3 * 2 + 0.5, 3 * 4, 3 * 2 - 4, 3 * 2 - 1}, gradient(SQUARED, 1, new double[] {1, 0, 0}), 1e-12);
    double third = 1 / 3.0;
    assertArrayEquals(new double[] {
        4 * Math.log(3), -4, -2 + 4 * third, -2 + third,
        2, 1 - 8 * third, 1 - 2 * third,
        2, 1 + 4 * third, 1 + third}, gradient(SOFTMAX, 3, new double[9]), 1e-12);
  }

  @Test
  void dualPointByHand() {
    // Errors 2 and -1: a = -2 - 0.5 and 1 - 0.5, conjugates a^2 / 2 - y a.
    assertArrayEquals(new double[] {3 * 3.125 + 0.125 - 0.5, -3 * 5, -3 * 2.5 + 2, -3 * 2.5 + 0.5},
        gradient(SQUARED, 1, new double[] {1, 0, 0}, 0.5), 1e-12);
    // Equal predictions, mixed half and half with (1, 0, 0): q = (2/3, 1/6, 1/6).
    double q = 2 / 3.0;
    double r = 1 / 6.0;
    assertArrayEquals(new double[] {
        4 * (q * Math.log(q) + 2 * r * Math.log(r)), 6 * (1 - q), 3 * (1 - q) - 4 * q, 3 * (1 - q) - q,
        -6 * r, -3 * r + 4 * (1 - r), -3 * r + (1 - r),
        -6 * r, -3 * r - 4 * r, -3 * r - r}, gradient(SOFTMAX, 3, new double[9], 0.5, 1, 0, 0, 1), 1e-12);
  }

  @Test
  void lossesAlone() {
    long pass = begin(NativeBridge.PASS_INTERCEPT);
    dense(pass);
    byte[] result = new byte[ResultHeader.BYTES];
    NativeBridge.passEnd(pass, 5, result);
    assertEquals(0.5 + 2 * 2, ResultHeader.get(result, PassLayout.LOSS_SUM));
    assertTrue(ResultHeader.get(result, ResultHeader.SOLVER_NANOS) >= 5);
  }

  private static void refusedBegin(String part, long[] control, double[] centre, double[] model, double[] steps, double[] reach) {
    refused(part, () -> NativeBridge.passBegin(control, centre, bytes(model), NONE, steps, reach, NONE, NONE, NONE));
  }

  private static void refusedDual(String part, long[] control, double[] reach, double... dual) {
    refused(part, () -> NativeBridge.passBegin(control, NONE, bytes(new double[3]), NONE, NONE, reach, dual, NONE, NONE));
  }

  @Test
  void wrongBeginnings() {
    double[] two = new double[2];
    double[] three = new double[3];
    long[] control = PassLayout.control(SQUARED, 1, ALL, 0.0, 2);
    refusedBegin("control", null, two, three, NONE, NONE);
    refusedBegin("layout version", new long[] {9, 0, 0, 1, 0, 2}, two, three, NONE, NONE);
    refusedBegin("loss", PassLayout.control(9, 1, ALL, 0.0, 2), two, three, NONE, NONE);
    refusedBegin("outputs", PassLayout.control(SQUARED, 2, ALL, 0.0, 2), two, three, NONE, NONE);
    refusedBegin("outputs", PassLayout.control(SOFTMAX, 1, ALL, 0.0, 2), two, three, NONE, NONE);
    refusedBegin("outputs", PassLayout.control(SQUARED, 0, ALL, 0.0, 2), two, three, NONE, NONE);
    refusedBegin("epsilon", PassLayout.control(HUBER, 1, ALL, 1.0, 2), two, new double[] {0, 0, 0, 1}, NONE, NONE);
    refusedBegin("the scale", PassLayout.control(HUBER, 1, ALL, 1.5, 2), two, new double[4], NONE, NONE);
    refusedBegin("flags", PassLayout.control(SQUARED, 1, 64, 0.0, 2), two, three, NONE, NONE);
    refusedBegin("centre", control, null, three, NONE, NONE);
    refusedBegin("centre", control, new double[1], three, NONE, NONE);
    refused("model", () -> NativeBridge.passBegin(control, NONE, new byte[23], NONE, NONE, NONE, NONE, NONE, NONE));
    refusedBegin("model", control, two, two, NONE, NONE);
    refusedBegin("model", control, two, new double[] {0, Double.NaN, 0}, NONE, NONE);
    refusedBegin("direction", control, two, three, new double[1], NONE);
    refusedBegin("steps", control, two, three, new double[PassLayout.MAX_STEPS + 1], NONE);
    refusedBegin("reach", control, two, three, NONE, two);
    refusedBegin("reach", control, two, three, NONE, new double[] {0, 0, -1});
    refused("remainders", () -> NativeBridge.passBegin(control, two, bytes(three), NONE, NONE, NONE, NONE, new double[] {2, 1, 1, 1}, NONE));
    long[] gradient = PassLayout.control(SQUARED, 1, NativeBridge.PASS_INTERCEPT | NativeBridge.PASS_GRADIENT, 0.0, 2);
    refusedDual("dual", gradient, NONE, 0, 0);
    refusedDual("a dual number", gradient, NONE, Double.NaN);
    refusedDual("reach", gradient, three, 0);
    refusedDual("Hessian", control, NONE, 0);
    refused("dual numbers", () -> NativeBridge.passBegin(PassLayout.control(HUBER, 1, 0, 1.5, 2), NONE, bytes(0, 0, 1), NONE, NONE, NONE,
        new double[] {0}, NONE, NONE));
  }

  private static void refusedBlock(String part, int[] offsets, int[] features, float[] values32, double[] values64, double[] labels,
      double[] weights) {
    long pass = begin(ALL);
    try {
      refused(part, () -> NativeBridge.passBlock(pass, offsets, features, values32, values64, labels, weights));
    } finally {
      NativeBridge.passFree(pass);
    }
  }

  @Test
  void wrongBlocks() {
    double[] four = new double[4];
    double[] labels = new double[2];
    refusedBlock("labels", null, null, null, four, null, null);
    refusedBlock("values32", null, null, new float[4], four, labels, null);
    refusedBlock("values64", null, null, null, labels, labels, null);
    refusedBlock("values", null, null, null, null, labels, null);
    refusedBlock("weights", null, null, null, four, labels, new double[1]);
    refusedBlock("offsets", new int[] {0, 1}, new int[] {0}, null, new double[1], labels, null);
    refusedBlock("offsets", new int[] {0, 2, 1}, new int[] {0, 1}, null, labels, labels, null);
    refusedBlock("offsets", new int[] {0, 1, 7}, new int[] {0, 1}, null, labels, labels, null);
    refusedBlock("out of range", new int[] {0, 1, 2}, new int[] {0, 2}, null, labels, labels, null);
    refusedBlock("out of range", new int[] {0, 1, 2}, new int[] {0, -1}, null, labels, labels, null);
  }

  @Test
  void wrongPassesAndResults() {
    refused("no such pass", () -> dense(Long.MAX_VALUE));
    long pass = begin(ALL);
    NativeBridge.passFree(pass);
    NativeBridge.passFree(pass);
    refused("no such pass", () -> NativeBridge.passEnd(pass, 0, new byte[ResultHeader.BYTES]));
    long other = begin(ALL);
    refused("result", () -> NativeBridge.passEnd(other, 0, new byte[ResultHeader.BYTES]));
    long last = begin(ALL);
    refused("result", () -> NativeBridge.passEnd(last, 0, null));
    NativeBridge.passFree(last);
  }

  /** Arguments of a model: x^2 + xy + y^2 + 3x, from (1, 0). */
  private static final class Model {
    double[] sums = {7, 2, 1, 2};
    double[] gradient = {5, 1};
    double[] at = {1, 0};
    double[] l1 = {0, 0};
    double[] l2 = {0, 0};
    boolean[] fixed = {false, false};
    double[] lower = {Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY};
    double[] upper = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
    int outputs = 1;
    double[] step = new double[2];
    double[] reach = new double[2];
    boolean[] dropped = new boolean[2];
    double[] bound = new double[4];

    Model run() {
      NativeBridge.newtonModel(sums, 1, outputs, gradient, at, l1, l2, fixed, lower, upper, 1.0, 1, step, reach, dropped, bound);
      return this;
    }
  }

  /** The first of two entries is twice the second: nothing is left of it. */
  @Test
  void remainders() {
    double[] sums = {7, 4, 2, 1};
    boolean[] none = new boolean[2];
    assertArrayEquals(new double[] {0, 1, -2}, NativeBridge.newtonRemainders(sums, 1, 1, none, none, 1), 1e-15);
    assertArrayEquals(NONE, NativeBridge.newtonRemainders(new double[] {4, 1, 1}, 0, 1, none, none, 2));
    assertArrayEquals(new double[] {1, -0.25, 1}, NativeBridge.newtonRemainders(new double[] {4, 1, 1}, 0, 1, none, new boolean[] {false, true}, 1));
    refused("fixed", () -> NativeBridge.newtonRemainders(sums, 1, 1, null, none, 1));
    assertThrows(NativeException.class, () -> NativeBridge.newtonRemainders(sums, 3, 1, none, none, 1));
  }

  /** The second feature of rows (2, 1) and (0, 3) becomes the difference of both, about the centre (1, 0). */
  @Test
  void replacedFeatures() {
    long pass = NativeBridge.passBegin(PassLayout.control(SQUARED, 1, ALL, 0.0, 2), new double[] {1, 0}, bytes(0, 0, 0), NONE, NONE, NONE, NONE,
        new double[] {1, 1, -1, 0}, NONE);
    dense(pass);
    byte[] result = new byte[PassLayout.length(2, 1, 1)];
    NativeBridge.passEnd(pass, 0, result);
    // Rows (1, 0) and (-1, -4) with labels 2 and 1, and weights 1 and 2.
    assertArrayEquals(new double[] {0, 8, -4, -1, -8, 3, 32, 3, 8, 32, -1, -8, 3}, vector(result));
  }

  @Test
  void models() {
    Model smooth = new Model().run();
    assertArrayEquals(new double[] {-3, 1}, smooth.step, 1e-12);
    assertArrayEquals(new double[] {7, Math.sqrt(14), 0, 1}, smooth.bound, 1e-12);
    assertArrayEquals(new double[] {Math.sqrt(2 / 3.0), Math.sqrt(2 / 3.0)}, smooth.reach, 1e-12);
    // Along x alone, with the derivative 5 + 2v + 2 (1 + v) + 1 where x is positive.
    Model bent = new Model();
    bent.fixed[1] = true;
    bent.l1[0] = 1;
    bent.l2[0] = 2;
    bent.run();
    assertArrayEquals(new double[] {-1.5, 0}, bent.step, 1e-12);
    assertEquals(0, bent.reach[1]);
    // With y at 0.5 the best x is -1.75, which is 2.75 away.
    Model boxed = new Model();
    boxed.upper[1] = 0.5;
    assertArrayEquals(new double[] {-2.75, 0.5}, boxed.run().step, 1e-12);
    // Two outputs of one entry each: the same Hessian by pairs.
    Model pairs = new Model();
    pairs.outputs = 2;
    assertArrayEquals(new double[] {-3, 1}, pairs.run().step, 1e-12);
  }

  private static void refusedModel(String part, java.util.function.Consumer<Model> spoil) {
    Model model = new Model();
    spoil.accept(model);
    refused(part, model::run);
  }

  @Test
  void wrongModels() {
    refusedModel("gradient", m -> m.gradient = null);
    refusedModel("l1", m -> m.l1 = new double[1]);
    refusedModel("l1", m -> m.l1[0] = -1);
    refusedModel("l2", m -> m.l2[0] = Double.NaN);
    refusedModel("finite", m -> m.sums[1] = Double.NaN);
    refusedModel("at", m -> m.at = null);
    refusedModel("at", m -> m.lower[0] = 2);
    refusedModel("upper", m -> m.upper = new double[1]);
    refusedModel("outputs", m -> m.outputs = 3);
    refusedModel("outputs", m -> m.outputs = 0);
  }
}
