package dwell.jni;

import static dwell.jni.Spoiling.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The leader of L-BFGS: cases by hand, vectors of several pins, and wrong arguments, each an exception that names the argument. */
class QuasiNewtonTest {
  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** Two outputs of two features and an intercept, each a block. */
  private final int[] ends = {3, 6};
  private final double[] deviation = {2, 0, 1, 2, 0, 1};
  private final double[] mean = {3, 5, 0, 3, 5, 0};
  private final double[] point = {2, 0, 1, -4, 0, 2};
  private final double[] direction = {2, 0, 1, 2, 0, -1};
  private final double[] next = new double[6];
  private final byte[] model = new byte[48];
  private final double[] two = new double[2];

  private static double[] decoded(byte[] bytes) {
    double[] numbers = new double[bytes.length / 8];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(numbers);
    return numbers;
  }

  @Test
  void trialByHand() {
    double[] centres = new double[2];
    NativeBridge.quasiNewtonTrial(ends, deviation, mean, point, direction, null, 1.0, 1, next, model, centres);
    assertArrayEquals(new double[] {4, 0, 2, -2, 0, 1}, next);
    assertArrayEquals(new double[] {2, 0, 2, -1, 0, 1}, decoded(model));
    assertArrayEquals(new double[] {6, -3}, centres);
    double[] subgradient = {1, 1, 1, 1, 1, 1};
    NativeBridge.quasiNewtonTrial(ends, deviation, null, point, direction, subgradient, 2.0, 2, next, model, centres);
    // The second output's features stop at 0, where they leave their orthant.
    assertArrayEquals(new double[] {6, 0, 3, 0, 0, 0}, next);
    assertArrayEquals(new double[] {3, 0, 3, 0, 0, 0}, decoded(model));
    assertArrayEquals(new double[2], centres, "features that are not centred");
  }

  @Test
  void gradientByHand() {
    double[] sums = {8, 1, 4, -16, 1, -8};
    double[] factors = {0.5, 1, 0, 0.5, 1, 0};
    double[] gradient = new double[6];
    double[] subgradient = new double[6];
    double[] result = new double[10];
    NativeBridge.quasiNewtonGradient(ends, deviation, mean, factors, 4.0, 2.0, sums, 4.0, new double[] {1, -2}, point, direction, 1,
        gradient, subgradient, result);
    // (8 / 4 - 3) / 2 + 2 / 4 * 2, and (-4 + 6) / 2 + 2 / 4 * -4.
    assertArrayEquals(new double[] {0.5, 0, 1, -1, 0, -2}, gradient);
    assertArrayEquals(new double[] {2.5, 0, 1, -3, 0, -2}, subgradient);
    assertArrayEquals(
        new double[] {1, 4, 5 + 1, 0.25 + 1, 6.25 + 1, 4, 8, -6 + 2, 1 + 4, 9 + 4}, result, "for each block");
    double[] free = {2, 0, 0, 2, 0, 0};
    NativeBridge.quasiNewtonGradient(
        ends, free, null, factors, 0.0, 2.0, sums, 4.0, two, point, direction, 2, gradient, null, result);
    assertArrayEquals(new double[] {2, 0, 0, -4, 0, 0}, gradient, 0.0, "without an intercept its entry is not free");
    assertArrayEquals(new double[] {1, 0, 4, 4, 0, 4, 0, -8, 16, 0}, result);
  }

  @Test
  void vectorsOfSeveralPins() {
    int n = 100_001;
    Random random = new Random(1);
    double[][] given = new double[5][n];
    for (double[] vector : given) {
      for (int i = 0; i < n; i++) {
        vector[i] = random.nextInt(9) - 4;
      }
    }
    float[][] history = new float[6][n];
    for (int k : new int[] {1, 2, 4, 5}) {
      for (int i = 0; i < n; i++) {
        history[k][i] = random.nextInt(5) - 2;
      }
    }
    int[] blocks = {16384, 32768, 40000, 100_000, 100_001};
    double[] sums = new double[5 * 18];
    NativeBridge.quasiNewtonProducts(blocks, given[0], given[1], given[2], given[3], given[4], history, 1, sums);
    double[] shared = new double[5 * 18];
    NativeBridge.quasiNewtonProducts(blocks, given[0], given[1], given[2], given[3], given[4], history, 3, shared);
    assertArrayEquals(sums, shared, "threads");
    double[] expected = new double[5 * 18];
    double[] along = new double[n];
    double[] products = new double[10];
    double[] factors = {1, 2, -1, 0.5, 1, -2};
    for (int i = 0; i < n; i++) {
      assertEquals((float) (given[1][i] - given[0][i]), history[0][i]);
      assertEquals((float) (given[3][i] - given[2][i]), history[3][i]);
      int block = 0;
      while (i >= blocks[block]) {
        block++;
      }
      double entry = -2 * given[4][i];
      for (int k = 0; k < 6; k++) {
        expected[18 * block + 3 * k] += history[0][i] * history[k][i];
        expected[18 * block + 3 * k + 1] += history[3][i] * history[k][i];
        expected[18 * block + 3 * k + 2] += given[4][i] * history[k][i];
        entry += factors[k] * history[k][i];
      }
      along[i] = entry * given[4][i] < 0 ? entry : 0;
      products[2 * block] += along[i] * along[i];
      products[2 * block + 1] += along[i] * given[4][i];
    }
    assertArrayEquals(expected, sums, "whole numbers have no rounding");
    double[] found = new double[n];
    double[] result = new double[10];
    NativeBridge.quasiNewtonDirection(blocks, given[4], -2, history, factors, true, 2, found, result);
    assertArrayEquals(products, result);
    assertArrayEquals(along, found);
  }

  @Test
  void withoutCorrections() {
    double[] found = new double[2];
    double[] result = new double[2];
    NativeBridge.quasiNewtonDirection(new int[] {2}, new double[] {1, -2}, -1, new float[0][], new double[0], false, 1, found, result);
    assertArrayEquals(new double[] {5, -5}, result);
    assertArrayEquals(new double[] {-1, 2}, found);
  }

  /** Nothing happens to a slice without blocks. */
  @Test
  void noBlocks() {
    double[] none = {};
    int[] noEnds = {};
    NativeBridge.quasiNewtonTrial(noEnds, none, none, none, none, null, 1, 1, new double[0], new byte[0], none);
    NativeBridge.quasiNewtonGradient(
        noEnds, none, none, none, 0, 0, none, 1, none, none, none, 1, new double[0], null, new double[0]);
    NativeBridge.quasiNewtonProducts(noEnds, none, none, none, none, none, new float[2][0], 1, none);
    NativeBridge.quasiNewtonDirection(noEnds, none, 1, new float[2][0], two, true, 1, new double[0], none);
    refused("sums has length 1, expected 0",
        () -> NativeBridge.quasiNewtonProducts(noEnds, none, none, none, none, none, new float[2][0], 1, new double[1]));
  }

  private Executable trial(int[] ends, double[] deviation, double[] mean, double[] point, double[] next, byte[] model) {
    return () -> NativeBridge.quasiNewtonTrial(ends, deviation, mean, point, direction, null, 1, 1, next, model, two);
  }

  private Executable gradient(double[] factors, double[] sums, double[] subgradient, double[] result) {
    return () -> NativeBridge.quasiNewtonGradient(
        ends, deviation, mean, factors, 0, 0, sums, 1, two, point, direction, 1, next, subgradient, result);
  }

  private Executable products(int[] ends, float[][] history, double[] sums) {
    return () -> NativeBridge.quasiNewtonProducts(ends, two, two, two, two, two, history, 1, sums);
  }

  @Test
  void wrongArguments() {
    refused("ends is null", trial(null, deviation, mean, point, next, model));
    refused("ends are [3, 3]", trial(new int[] {3, 3}, deviation, mean, point, next, model));
    refused("ends are [-1, 6]", trial(new int[] {-1, 6}, deviation, mean, point, next, model));
    refused("ends are [65537]", trial(new int[] {65537}, new double[65537], mean, point, next, model));
    refused("the vector has length 6, expected 5", trial(new int[] {3, 5}, deviation, mean, point, next, model));
    refused("deviation", trial(ends, null, mean, point, next, model));
    refused("mean has length 1", trial(ends, deviation, new double[1], point, next, model));
    refused("point has length 5, expected 6", trial(ends, deviation, mean, new double[5], next, model));
    refused("model", trial(ends, deviation, mean, point, next, new byte[40]));
    refused("given twice", trial(ends, deviation, mean, point, point, model));
    refused("centres has length 2, expected 1", trial(new int[] {6}, deviation, mean, point, next, model));
    double[] result = new double[10];
    double[] six = new double[6];
    refused("factors", gradient(new double[1], six, null, result));
    refused("sums is null", gradient(six, null, null, result));
    refused("given twice", gradient(six, six, next, result));
    refused("result has length 5, expected 10", gradient(six, six, null, new double[5]));
    int[] all = {2};
    refused("history is empty", products(all, new float[0][], new double[0]));
    refused("history has length 3", products(all, new float[3][2], new double[9]));
    refused("history has length 22", products(all, new float[22][2], new double[66]));
    refused("an array of history has length 1", products(all, new float[2][1], new double[6]));
    refused("an array of history is null", products(all, new float[2][], new double[6]));
    float[] same = new float[2];
    refused("the same array twice", products(all, new float[][] {same, same}, new double[6]));
    refused("sums has length 5", products(all, new float[2][2], new double[5]));
    refused("sums has length 6, expected 12", products(new int[] {1, 2}, new float[2][2], new double[6]));
    refused("given twice", () -> NativeBridge.quasiNewtonDirection(all, two, 1, new float[2][2], two, false, 1, two, two));
    refused("lengths [1, 2]",
        () -> NativeBridge.quasiNewtonDirection(all, two, 1, new float[2][2], new double[1], false, 1, new double[2], new double[2]));
  }
}
