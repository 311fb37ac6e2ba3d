package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

  /** Two outputs of two features and an intercept. */
  private final double[] deviation = {2, 0};
  private final double[] mean = {3, 5};
  private final double[] point = {2, 0, 1, -4, 0, 2};
  private final double[] direction = {2, 0, 1, 2, 0, -1};
  private final double[] next = new double[6];
  private final byte[] model = new byte[48];

  private static double[] decoded(byte[] bytes) {
    double[] numbers = new double[bytes.length / 8];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(numbers);
    return numbers;
  }

  private static void refused(String part, Executable call) {
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call, part);
    assertTrue(e.getMessage().contains(part), e.getMessage());
  }

  @Test
  void trialByHand() {
    NativeBridge.quasiNewtonTrial(2, deviation, mean, point, direction, null, 1.0, next, model);
    assertArrayEquals(new double[] {4, 0, 2, -2, 0, 1}, next);
    assertArrayEquals(new double[] {2, 0, 2 - 6, -1, 0, 1 + 3}, decoded(model));
    double[] subgradient = {1, 1, 1, 1, 1, 1};
    NativeBridge.quasiNewtonTrial(2, deviation, null, point, direction, subgradient, 2.0, next, model);
    // The second output's features stop at 0, where they leave their orthant.
    assertArrayEquals(new double[] {6, 0, 3, 0, 0, 0}, next);
    assertArrayEquals(new double[] {3, 0, 3, 0, 0, 0}, decoded(model));
  }

  @Test
  void gradientByHand() {
    double[] sums = {8, 1, 4, -16, 1, -8};
    double[] factors = {0.5, 1};
    double[] gradient = new double[6];
    double[] subgradient = new double[6];
    double[] result = new double[5];
    NativeBridge.quasiNewtonGradient(
        2, deviation, mean, factors, 4.0, 2.0, sums, 4.0, point, direction, gradient, subgradient, result);
    // (8 / 4 - 3) / 2 + 2 / 4 * 2, and (-4 + 6) / 2 + 2 / 4 * -4.
    assertArrayEquals(new double[] {0.5, 0, 1, -1, 0, -2}, gradient);
    assertArrayEquals(new double[] {2.5, 0, 1, -3, 0, -2}, subgradient);
    assertArrayEquals(new double[] {1 + 4, 4 + 8, 5 + 1 - 6 + 2, 0.25 + 1 + 1 + 4, 6.25 + 1 + 9 + 4}, result);
    NativeBridge.quasiNewtonGradient(2, deviation, null, factors, 0.0, 2.0, sums, 4.0, point, direction, gradient, null, result);
    assertArrayEquals(new double[] {2, 0, 0, -4, 0, 0}, gradient, 0.0, "without an intercept its entry is not free");
    assertEquals(4 - 8, result[2]);
    assertEquals(20.0, result[3]);
    assertEquals(0.0, result[4]);
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
    double[] sums = new double[18];
    NativeBridge.quasiNewtonProducts(given[0], given[1], given[2], given[3], given[4], history, 1, sums);
    double[] expected = new double[18];
    double[] along = new double[n];
    double squares = 0;
    double slope = 0;
    double[] factors = {1, 2, -1, 0.5, 1, -2};
    for (int i = 0; i < n; i++) {
      assertEquals((float) (given[1][i] - given[0][i]), history[0][i]);
      assertEquals((float) (given[3][i] - given[2][i]), history[3][i]);
      double entry = -2 * given[4][i];
      for (int k = 0; k < 6; k++) {
        expected[3 * k] += history[0][i] * history[k][i];
        expected[3 * k + 1] += history[3][i] * history[k][i];
        expected[3 * k + 2] += given[4][i] * history[k][i];
        entry += factors[k] * history[k][i];
      }
      along[i] = entry * given[4][i] < 0 ? entry : 0;
      squares += along[i] * along[i];
      slope += along[i] * given[4][i];
    }
    assertArrayEquals(expected, sums, "whole numbers have no rounding");
    double[] found = new double[n];
    double[] result = new double[2];
    NativeBridge.quasiNewtonDirection(given[4], -2, history, factors, true, 2, found, result);
    assertArrayEquals(new double[] {squares, slope}, result);
    assertArrayEquals(along, found);
  }

  @Test
  void withoutCorrections() {
    double[] found = new double[2];
    double[] result = new double[2];
    NativeBridge.quasiNewtonDirection(new double[] {1, -2}, -1, new float[0][], new double[0], false, 1, found, result);
    assertArrayEquals(new double[] {5, -5}, result);
    assertArrayEquals(new double[] {-1, 2}, found);
  }

  @Test
  void wrongArguments() {
    refused("outputs", () -> NativeBridge.quasiNewtonTrial(0, deviation, mean, point, direction, null, 1, next, model));
    refused("deviation", () -> NativeBridge.quasiNewtonTrial(2, null, mean, point, direction, null, 1, next, model));
    refused("mean has length 1",
        () -> NativeBridge.quasiNewtonTrial(2, deviation, new double[1], point, direction, null, 1, next, model));
    refused("point has length 6, expected 9",
        () -> NativeBridge.quasiNewtonTrial(3, deviation, mean, point, direction, null, 1, next, model));
    refused("model", () -> NativeBridge.quasiNewtonTrial(2, deviation, mean, point, direction, null, 1, next, new byte[40]));
    refused("given twice", () -> NativeBridge.quasiNewtonTrial(2, deviation, mean, point, direction, null, 1, point, model));
    double[] result = new double[5];
    refused("factors", () -> NativeBridge.quasiNewtonGradient(
        2, deviation, mean, new double[1], 0, 0, new double[6], 1, point, direction, next, null, result));
    refused("sums is null", () -> NativeBridge.quasiNewtonGradient(
        2, deviation, mean, new double[2], 0, 0, null, 1, point, direction, next, null, result));
    refused("given twice", () -> NativeBridge.quasiNewtonGradient(
        2, deviation, mean, new double[2], 0, 0, new double[6], 1, point, direction, next, next, result));
    double[] two = new double[2];
    refused("history is empty", () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[0][], 1, new double[0]));
    refused("history has length 3", () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[3][2], 1, new double[9]));
    refused("history has length 22",
        () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[22][2], 1, new double[66]));
    refused("an array of history has length 1",
        () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[2][1], 1, new double[6]));
    refused("an array of history is null",
        () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[2][], 1, new double[6]));
    float[] same = new float[2];
    refused("the same array twice",
        () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[][] {same, same}, 1, new double[6]));
    refused("sums has length 5", () -> NativeBridge.quasiNewtonProducts(two, two, two, two, two, new float[2][2], 1, new double[5]));
    refused("given twice", () -> NativeBridge.quasiNewtonDirection(two, 1, new float[2][2], new double[2], false, 1, two, two));
    refused("lengths [1, 2]",
        () -> NativeBridge.quasiNewtonDirection(two, 1, new float[2][2], new double[1], false, 1, new double[2], result));
  }
}
