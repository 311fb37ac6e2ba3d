package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Numbers: native rounds against the definitions, calculated in plain Java on dense columns. */
class PrimalTest {
  /** Sums of some dozens of products in another order. */
  private static final double TOLERANCE = 1e-12;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @Test
  void roundsAgreeWithPlainJavaForAllKindsOfData() {
    Random random = new Random(1);
    for (Problem.Values values : Problem.Values.values()) {
      for (boolean weighted : new boolean[] {false, true}) {
        for (boolean centred : new boolean[] {false, true}) {
          for (int n : new int[] {1, 7, 40, 600}) {
            threeRounds(new Problem(random, 35, n, values, weighted, centred));
          }
        }
      }
    }
  }

  private static void threeRounds(Problem p) {
    double[] alpha = new double[p.n];
    double[] previous = new double[p.n];
    long cursor = 0;
    p.theta1 = 0.5;
    p.theta2 = 0.25;
    for (long t = 0; t < 3; t++) {
      byte[] result = p.newResult();
      assertEquals(NativeBridge.OK, p.round(t, result));
      Problem.Step step = p.referenceRound(alpha, cursor);
      assertArrayEquals(alpha, p.exportedAlpha(), TOLERANCE);
      assertArrayEquals(step.delta(), p.exportedDelta(), TOLERANCE);
      assertArrayEquals(p.times(step.delta()), Problem.vector(result), TOLERANCE * 100);
      checkHeader(p, alpha, step, result);
      cursor = step.cursor();
      for (int i = 0; i < p.n; i++) {
        previous[i] = p.theta1 * step.delta()[i] + p.theta2 * previous[i];
        alpha[i] += previous[i];
      }
    }
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.product(3, result));
    assertArrayEquals(alpha, p.exportedAlpha(), TOLERANCE);
    assertArrayEquals(p.times(alpha), Problem.vector(result), TOLERANCE * 100);
    assertEquals(p.penalty(alpha), Problem.slot(result, 0), TOLERANCE * 100);
    assertEquals(p.centred ? dot(p.mean, alpha) : 0.0, Problem.slot(result, 10), TOLERANCE * 100);
    p.free();
  }

  private static void checkHeader(Problem p, double[] alpha, Problem.Step step, byte[] result) {
    double[] after = new double[p.n];
    double conjugate = 0.0;
    double ratio = 0.0;
    double correlation = 0.0;
    for (int i = 0; i < p.n; i++) {
      after[i] = alpha[i] + step.delta()[i];
      double x = Math.abs(p.correlation(i, p.residual));
      conjugate += Math.pow(Math.max(x - p.l1Of(i), 0.0), 2) / (2 * p.l2Of(i));
      ratio = Math.max(ratio, x / p.l1Of(i));
      correlation = Math.max(correlation, x / Math.sqrt(p.meanSquare(i)));
    }
    double[] expected = {p.penalty(alpha), p.penalty(after), conjugate, ratio, correlation};
    for (int slot = 0; slot < expected.length; slot++) {
      assertEquals(expected[slot], Problem.slot(result, slot), 1e-10 * Math.max(1.0, expected[slot]), "slot " + slot);
    }
    assertTrue(Problem.slot(result, 5) >= p.budget);
    assertTrue(Problem.slot(result, 6) > 0);
    assertTrue(Problem.slot(result, 7) > 0);
    assertEquals(NativeBridge.stateSize(p.fit, p.partition), p.n);
    assertTrue(Problem.slot(result, 8) >= 24.0 * p.n);
    assertEquals(0.0, Problem.slot(result, 9));
    assertEquals(p.centred ? dot(p.mean, step.delta()) : 0.0, Problem.slot(result, 10), TOLERANCE * 100);
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0.0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  @Test
  void threadsAndSlicesDoNotChangeABit() {
    Problem one = new Problem(new Random(2), 200, 5000, Problem.Values.DOUBLES, true, true);
    Problem two = new Problem(new Random(2), 200, 5000, Problem.Values.DOUBLES, true, true);
    two.threads = 2;
    byte[] first = one.newResult();
    byte[] second = two.newResult();
    assertEquals(NativeBridge.OK, one.round(0, first));
    assertEquals(NativeBridge.OK, two.round(0, second));
    assertArrayEquals(Problem.vector(first), Problem.vector(second), 0.0);
    for (int slot = 0; slot < 7; slot++) {
      assertEquals(Problem.slot(first, slot), Problem.slot(second, slot), "slot " + slot);
    }
    one.free();
    two.free();
  }

  @Test
  void withoutACertificateItsSlotsAreNaN() {
    Problem p = new Problem(new Random(3), 20, 5, Problem.Values.DOUBLES, false, true);
    p.certificate = false;
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(0, result));
    for (int slot = 2; slot <= 4; slot++) {
      assertTrue(Double.isNaN(Problem.slot(result, slot)), "slot " + slot);
    }
    p.free();
  }

  @Test
  void emptyPartitionsAndNoRows() {
    for (int[] shape : new int[][] {{12, 0}, {0, 0}}) {
      Problem p = new Problem(new Random(4), shape[0], shape[1], Problem.Values.ONES, true, true);
      byte[] result = p.newResult();
      assertEquals(NativeBridge.OK, p.round(0, result));
      assertArrayEquals(new double[shape[0]], Problem.vector(result));
      assertEquals(0.0, Problem.slot(result, 5));
      assertEquals(NativeBridge.OK, p.product(1, result));
      p.free();
    }
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    Problem p = new Problem(new Random(5), 20, 5, Problem.Values.DOUBLES, false, false);
    byte[] result = p.newResult();
    java.util.Arrays.fill(result, 88, 128, (byte) 7);
    assertEquals(NativeBridge.OK, p.round(0, result));
    for (int i = 88; i < 128; i++) {
      assertEquals(7, result[i]);
    }
    p.free();
  }
}
