package dwell.jni;

import static dwell.jni.Spoiling.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Searches by L-BFGS: cases by hand, vectors of several pins, and wrong arguments, each an exception that names the argument. */
class QuasiNewtonTest {
  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @AfterEach
  void allAreFreed() {
    NativeBridge.quasiNewtonFree(search);
    assertEquals(0, NativeBridge.stateEntries());
  }

  /** Two outputs of two features and an intercept, each a block. */
  private final int[] ends = {3, 6};
  private final double[] deviation = {2, 0, 1, 2, 0, 1};
  private final double[] mean = {3, 5, 0, 3, 5, 0};
  private final double[] factors = {0.5, 1, 0, 0.5, 1, 0};
  private final double[] start = {2, 0, 1, -4, 0, 2};
  private final double[] sums = {8, 1, 4, -16, 1, -8};
  private final double[] intercepts = {1, -2};
  private final byte[] model = new byte[48];
  private long search;

  private static double[] decoded(byte[] bytes) {
    double[] numbers = new double[bytes.length / 8];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(numbers);
    return numbers;
  }

  private void begin(double[] mean, double l1, int threads) {
    search = NativeBridge.quasiNewtonBegin(ends, deviation, mean, factors, l1, 2.0, start, 3, threads);
  }

  @Test
  void smoothByHand() {
    begin(mean, 0.0, 1);
    assertArrayEquals(new double[] {3, -6}, NativeBridge.quasiNewtonTrial(search, 0.0, model), "means times coefficients");
    assertArrayEquals(new double[] {1, 0, 1, -2, 0, 2}, decoded(model));
    // The gradient is (8 / 4 - 3) / 2 + 2 / 4 * 2, 0, 1, and (-4 + 6) / 2 + 2 / 4 * -4, 0, -2.
    assertArrayEquals(
        new double[] {1, 0, 0, 0.25 + 1, 0, 4, 0, 0, 1 + 4, 0}, NativeBridge.quasiNewtonGradient(search, sums, 4.0, intercepts));
    assertEquals(0, NativeBridge.quasiNewtonAccept(search, false).length);
    assertArrayEquals(new double[] {1.25, -1.25, 5, -5}, NativeBridge.quasiNewtonTurn(search, -1.0, new double[0]));
    assertArrayEquals(new double[] {2.25, -4.5}, NativeBridge.quasiNewtonTrial(search, 1.0, model));
    assertArrayEquals(new double[] {0.75, 0, 0, -1.5, 0, 4}, decoded(model));
    NativeBridge.quasiNewtonGradient(search, new double[6], 1.0, new double[2]);
    // The step is -0.5, 0, -1, 1, 0, 2; the new gradient 0.75, 0, 0, -1.5, 0, 0.
    assertArrayEquals(
        new double[] {1.25, 0.875, -0.375, 0.875, 0.0625 + 1, 0.1875, 5, 3.5, -1.5, 3.5, 0.25 + 4, 0.75},
        NativeBridge.quasiNewtonAccept(search, true));
  }

  @Test
  void firstPenaltyByHand() {
    begin(null, 4.0, 2);
    assertArrayEquals(new double[2], NativeBridge.quasiNewtonTrial(search, 0.0, model), "features that are not centred");
    // The gradient is 8 / 4 / 2 + 2 / 4 * 2, 0, 1 and -16 / 4 / 2 + 2 / 4 * -4, 0, -2; the subgradient has 2 more, and 2 less.
    assertArrayEquals(
        new double[] {1, 4, 0, 4 + 1, 16 + 1, 4, 8, 0, 16 + 4, 36 + 4},
        NativeBridge.quasiNewtonGradient(search, sums, 4.0, intercepts));
    NativeBridge.quasiNewtonAccept(search, false);
    assertArrayEquals(new double[] {17, -17, 40, -40}, NativeBridge.quasiNewtonTurn(search, -1.0, new double[0]));
    NativeBridge.quasiNewtonTrial(search, 1.0, model);
    assertArrayEquals(new double[] {0, 0, 0, 0, 0, 4}, decoded(model), "all but the last leave their orthant");
    NativeBridge.quasiNewtonTrial(search, 0.25, model);
    assertArrayEquals(new double[] {0.5, 0, 0.75, -1.25, 0, 2.5}, decoded(model));
  }

  /** Vectors of whole numbers, whose sums have no rounding, for as many corrections as are kept and one more. */
  @Test
  void vectorsOfSeveralPins() {
    int n = 100_001;
    int[] blocks = {16384, 32768, 40000, 100_000, 100_001};
    double[] ones = new double[n];
    Arrays.fill(ones, 1.0);
    for (int threads : new int[] {1, 3}) {
      long many = NativeBridge.quasiNewtonBegin(blocks, ones, null, new double[n], 0.0, 0.0, new double[n], 2, threads);
      Random random = new Random(1);
      double[] point = new double[n];
      double[] gradient = new double[n];
      double[] direction = new double[n];
      float[][] history = new float[4][n];

      for (int k = 0; k < 4; k++) {
        byte[] next = new byte[8 * n];
        NativeBridge.quasiNewtonTrial(many, k == 0 ? 0.0 : 1.0, next);
        double[] trial = decoded(next);
        double[] after = new double[n];
        for (int i = 0; i < n; i++) {
          assertEquals(point[i] + direction[i], trial[i]);
          after[i] = random.nextInt(5) - 2;
        }
        NativeBridge.quasiNewtonGradient(many, after, 1.0, new double[5]);
        double[] products = NativeBridge.quasiNewtonAccept(many, k > 0);
        int kept = Math.min(k, 2);
        double[] factors = {1, 2, -1, 3};
        factors = kept == 2 ? factors : kept == 1 ? new double[] {1, -1} : new double[0];
        double[] expected = new double[30 * kept];
        double[] turned = new double[10];
        if (k > 0) {
          history = new float[][] {new float[n], history[0], new float[n], history[2]};
        }
        for (int i = 0; i < n; i++) {
          int block = 0;
          while (i >= blocks[block]) {
            block++;
          }
          history[0][i] = (float) (trial[i] - point[i]);
          history[2][i] = (float) (after[i] - gradient[i]);
          direction[i] = -2 * after[i];
          for (int v = 0; v < 2 * kept; v++) {
            float entry = history[v < kept ? v : v - kept + 2][i];
            int at = 6 * kept * block + 3 * v;
            expected[at] += history[0][i] * entry;
            expected[at + 1] += history[2][i] * entry;
            expected[at + 2] += after[i] * entry;
            direction[i] += factors[v] * entry;
          }
          turned[2 * block] += direction[i] * direction[i];
          turned[2 * block + 1] += direction[i] * after[i];
        }
        assertArrayEquals(expected, products, "correction " + k);
        double[] found = NativeBridge.quasiNewtonTurn(many, -2, factors);
        assertArrayEquals(turned, found, "direction " + k);
        point = trial;
        gradient = after;
      }
      NativeBridge.quasiNewtonFree(many);
    }
  }

  /** Nothing happens to a slice without blocks. */
  @Test
  void noBlocks() {
    double[] none = {};
    search = NativeBridge.quasiNewtonBegin(new int[0], none, none, none, 1.0, 0.0, none, 1, 1);
    assertEquals(0, NativeBridge.quasiNewtonTrial(search, 1.0, new byte[0]).length);
    assertEquals(0, NativeBridge.quasiNewtonGradient(search, none, 1.0, none).length);
    assertEquals(0, NativeBridge.quasiNewtonAccept(search, true).length);
    assertEquals(0, NativeBridge.quasiNewtonTurn(search, 1.0, new double[2]).length);
  }

  private Executable beginning(int[] ends, double[] deviation, double[] mean, double[] start, int memory) {
    return () -> NativeBridge.quasiNewtonBegin(ends, deviation, mean, factors, 0.0, 0.0, start, memory, 1);
  }

  /** A call that throws frees its search. */
  private void refusedOfSearch(String text, Executable call) {
    begin(mean, 0.0, 1);
    refused(text, call);
    refused("no such search", () -> NativeBridge.quasiNewtonAccept(search, false));
  }

  @Test
  void wrongArguments() {
    refused("ends is null", beginning(null, deviation, mean, start, 3));
    refused("ends are [3, 3]", beginning(new int[] {3, 3}, deviation, mean, start, 3));
    refused("ends are [-1, 6]", beginning(new int[] {-1, 6}, deviation, mean, start, 3));
    refused("ends are [65537]", beginning(new int[] {65537}, deviation, mean, start, 3));
    refused("deviation has length 6, expected 5", beginning(new int[] {3, 5}, deviation, mean, start, 3));
    refused("deviation is null", beginning(ends, null, mean, start, 3));
    refused("mean has length 1, expected 6", beginning(ends, deviation, new double[1], start, 3));
    refused("start has length 5, expected 6", beginning(ends, deviation, mean, new double[5], 3));
    refused("memory is 0", beginning(ends, deviation, mean, start, 0));
    refusedOfSearch("model is null", () -> NativeBridge.quasiNewtonTrial(search, 1.0, null));
    refusedOfSearch("model has length 40, expected 48", () -> NativeBridge.quasiNewtonTrial(search, 1.0, new byte[40]));
    refusedOfSearch("sums is null", () -> NativeBridge.quasiNewtonGradient(search, null, 1.0, intercepts));
    refusedOfSearch("sums has length 5", () -> NativeBridge.quasiNewtonGradient(search, new double[5], 1.0, intercepts));
    refusedOfSearch("intercepts has length 1", () -> NativeBridge.quasiNewtonGradient(search, sums, 1.0, new double[1]));
    refusedOfSearch("factors is null", () -> NativeBridge.quasiNewtonTurn(search, 1.0, null));
    refusedOfSearch("lengths [2, 0]", () -> NativeBridge.quasiNewtonTurn(search, 1.0, new double[2]));
  }
}
