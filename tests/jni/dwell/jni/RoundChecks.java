package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Supplier;

/** Compares rounds and products of the library with those of a {@link Problem}, which follow the definitions. */
final class RoundChecks {
  /** Factors of the step and of the step before it; some leave the domain of a conjugate. */
  private static final double[] POINTS = {0.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.75, 0.25, 3.0, -0.5, 0.0, 1.0, -1.0, 0.0};

  private RoundChecks() {}

  static void threeRoundsAndAProduct(Problem p, double tolerance) {
    double[] alpha = new double[p.n];
    double[] previous = new double[p.n];
    long cursor = 0;
    p.points = POINTS;
    for (long t = 0; t < 3; t++) {
      byte[] result = p.newResult();
      assertEquals(NativeBridge.OK, p.round(t, result));
      Problem.Step step = p.referenceRound(alpha, cursor);
      assertArrayEquals(alpha, p.exportedAlpha(), tolerance);
      assertArrayEquals(previous, p.exportedPrevious(), tolerance);
      assertArrayEquals(step.delta(), p.exportedDelta(), tolerance);
      assertArrayEquals(p.times(step.delta()), Partition.vector(result), tolerance * 100);
      checkHeader(p, result);
      cursor = step.cursor();
      // Go on from the numbers of the state: one that differs in the last bit can be outside of a domain.
      double[] delta = p.exportedDelta();
      alpha = p.exportedAlpha();
      for (int i = 0; i < p.n; i++) {
        previous[i] = p.theta1 * delta[i] + p.theta2 * previous[i];
        alpha[i] += previous[i];
      }
    }
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.product(3, result));
    assertArrayEquals(alpha, p.exportedAlpha(), tolerance);
    assertArrayEquals(p.times(alpha), Partition.vector(result), tolerance * 100);
    slot(p.value(alpha), result, CdLayout.VALUE_BEFORE, tolerance * 100);
    slot(p.value(alpha), result, CdLayout.VALUE_AFTER, tolerance * 100);
    slot(p.kappa(alpha), result, CdLayout.KAPPA, tolerance * 100);
    for (int slot = CdLayout.SLOPE1; slot < ResultHeader.SLOTS; slot++) {
      slot(0.0, result, slot, 0.0);
    }
    p.free();
  }

  private static void checkHeader(Problem p, byte[] result) {
    double[] alpha = p.exportedAlpha();
    double[] delta = p.exportedDelta();
    double[] previous = p.exportedPrevious();
    slot(p.value(alpha), result, CdLayout.VALUE_BEFORE, 1e-10);
    slot(p.value(plus(alpha, delta, 1.0, previous, 0.0)), result, CdLayout.VALUE_AFTER, 1e-10);
    assertTrue(ResultHeader.get(result, CdLayout.COORDINATES) >= p.budget);
    assertTrue(ResultHeader.get(result, ResultHeader.NONZEROS) >= 0);
    assertTrue(ResultHeader.get(result, ResultHeader.SOLVER_NANOS) > 0);
    assertEquals(NativeBridge.stateSize(p.fit, p.partition), p.n);
    assertTrue(ResultHeader.get(result, ResultHeader.STATE_BYTES) >= 24.0 * p.n);
    slot(0.0, result, CdLayout.STAMP, 0.0);
    slot(p.kappa(delta), result, CdLayout.KAPPA, 1e-10);
    Map<Integer, Double> certificate = p.certificate();
    certificate.forEach((slot, expected) -> slot(expected, result, slot, 1e-10));
    for (int slot : new int[] {CdLayout.CONJUGATE, CdLayout.RATIO, CdLayout.CORRELATION}) {
      assertEquals(!certificate.containsKey(slot), Double.isNaN(ResultHeader.get(result, slot)), "slot " + slot);
    }
    int points = p.points.length / 2;
    for (int k = 0; k < points; k++) {
      double first = p.points[2 * k];
      double second = p.points[2 * k + 1];
      double change = p.value(plus(alpha, delta, first, previous, second)) - p.value(alpha);
      double quadratic = ResultHeader.get(result, CdLayout.SLOPE1) * first + ResultHeader.get(result, CdLayout.SLOPE2) * second
          + (ResultHeader.get(result, CdLayout.CURVE11) * first * first + 2 * ResultHeader.get(result, CdLayout.CURVE12) * first * second
              + ResultHeader.get(result, CdLayout.CURVE22) * second * second) / 2;
      double sample = ResultHeader.get(result, CdLayout.SAMPLES + k);
      assertTrue(sample > Double.NEGATIVE_INFINITY);
      assertEquals(change, quadratic + sample, 1e-10 * Math.max(1.0, Math.abs(change)), "point " + k);
    }
    for (int slot = CdLayout.SAMPLES + points; slot < ResultHeader.FIRST_FREE; slot++) {
      if (!certificate.containsKey(slot)) {
        slot(0.0, result, slot, 0.0);
      }
    }
  }

  private static double[] plus(double[] alpha, double[] delta, double first, double[] previous, double second) {
    double[] sum = alpha.clone();
    Arrays.setAll(sum, i -> alpha[i] + (first * delta[i] + second * previous[i]));
    return sum;
  }

  private static void slot(double expected, byte[] result, int slot, double tolerance) {
    assertEquals(expected, ResultHeader.get(result, slot), tolerance * Math.max(1.0, Math.abs(expected)), "slot " + slot);
  }

  /** The same results, apart from their times and from what they say of the state. */
  static void sameNumbers(byte[] first, byte[] second) {
    assertArrayEquals(Partition.vector(first), Partition.vector(second), 0.0);
    for (int slot = 0; slot < ResultHeader.FIRST_FREE; slot++) {
      if (slot != ResultHeader.SOLVER_NANOS && slot != ResultHeader.STATE_BYTES && slot != CdLayout.STAMP) {
        assertEquals(ResultHeader.get(first, slot), ResultHeader.get(second, slot), "slot " + slot);
      }
    }
  }

  /** The result depends on the number of threads, but not on how they take turns. {@code problem} makes equal problems. */
  static void threadsDoNotRace(Supplier<Problem> problem) {
    byte[] first = null;
    for (int repetition = 0; repetition < 3; repetition++) {
      Problem p = problem.get();
      p.threads = 2;
      byte[] result = p.newResult();
      assertEquals(NativeBridge.OK, p.round(0, result));
      assertEquals(NativeBridge.OK, p.round(1, result));
      double[] step = p.exportedDelta();
      assertTrue(Arrays.stream(step).anyMatch(d -> d != 0.0));
      assertArrayEquals(p.times(step), Partition.vector(result), 1e-9);
      first = first == null ? result : first;
      sameNumbers(first, result);
      p.free();
    }
  }

  static void emptyPartition(Problem p) {
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(0, result));
    assertArrayEquals(new double[p.m], Partition.vector(result));
    slot(0.0, result, CdLayout.COORDINATES, 0.0);
    assertEquals(NativeBridge.OK, p.product(1, result));
    p.free();
  }

  static void slotsOfTheCallerAreLeftAlone(Problem p) {
    byte[] result = p.newResult();
    int free = 8 * ResultHeader.FIRST_FREE;
    Arrays.fill(result, free, ResultHeader.BYTES, (byte) 7);
    assertEquals(NativeBridge.OK, p.round(0, result));
    assertEquals(NativeBridge.OK, p.product(0, result));
    for (int i = free; i < ResultHeader.BYTES; i++) {
      assertEquals(7, result[i]);
    }
    p.free();
  }
}
