package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Compares native dual rounds with the definitions, calculated in plain Java on dense rows. */
class DualTest {
  /** Some dozens of products are added in another order, and steps of 1 / q in the hinges multiply the difference. */
  private static final double TOLERANCE = 1e-10;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  private static DualProblem problem(Random random, int m, int n, int loss) {
    return new DualProblem(random, m, n, Problem.Values.DOUBLES, true, true, true, loss);
  }

  @Test
  void roundsAgreeWithPlainJavaForAllLossesAndKindsOfData() {
    Random random = new Random(21);
    for (int loss = 0; loss <= 4; loss++) {
      for (Problem.Values values : Problem.Values.values()) {
        for (int kind = 0; kind < 8; kind++) {
          for (int n : new int[] {1, 7, 300}) {
            DualProblem p = new DualProblem(random, 25, n, values, (kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0, loss);
            p.l2 = 0.3;
            p.cut = n / 3;
            p.theta1 = 0.75;
            // With another loss the step before could leave the domain of a conjugate.
            p.theta2 = loss == DualProblem.SQUARED ? 0.25 : 0.0;
            RoundChecks.threeRoundsAndAProduct(p, TOLERANCE);
          }
        }
      }
    }
  }

  /** One partition, all rows, sigma' = 1: plain coordinate ascent, whose primal and dual objectives meet. */
  @Test
  void roundsOfOnePartitionReachTheOptimum() {
    for (int loss : new int[] {DualProblem.SQUARED, DualProblem.LOGISTIC, DualProblem.SMOOTHED_HINGE, DualProblem.SQUARED_HINGE}) {
      DualProblem p = new DualProblem(new Random(22), 8, 40, Problem.Values.DOUBLES, true, false, false, loss);
      p.sigmaPrime = 1.0;
      p.l2 = 0.5;
      p.candidates = new double[] {0.0};
      java.util.Arrays.fill(p.shared, 0.0);
      byte[] result = p.newResult();
      double gap = Double.NaN;
      for (long t = 0; t < 300; t++) {
        assertEquals(NativeBridge.OK, p.round(t, result));
        double square = 0.0;
        for (double w : p.shared) {
          square += w * w;
        }
        gap = ResultHeader.get(result, CdLayout.LOSSES) + ResultHeader.get(result, CdLayout.VALUE_BEFORE) + p.l2 * square;
        assertTrue(gap > -1e-12, "gap " + gap);
        double[] update = Partition.vector(result);
        for (int j = 0; j < p.m; j++) {
          p.shared[j] += update[j];
        }
      }
      assertTrue(gap < 1e-9, "loss " + loss + ": gap " + gap);
      p.free();
    }
  }

  @Test
  void threadsDoNotRace() {
    RoundChecks.threadsDoNotRace(() -> problem(new Random(29), 200, 5000, DualProblem.SMOOTHED_HINGE));
  }

  @Test
  void withoutACertificateThereAreNoLosses() {
    Problem p = problem(new Random(23), 20, 5, DualProblem.HINGE);
    p.certificate = false;
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(0, result));
    for (int slot = CdLayout.LOSSES; slot < ResultHeader.FIRST_FREE; slot++) {
      assertEquals(0.0, ResultHeader.get(result, slot), "slot " + slot);
    }
    p.free();
  }

  @Test
  void asManyPointsAndCandidatesAsThereIsRoomFor() {
    DualProblem p = problem(new Random(24), 20, 5, DualProblem.LOGISTIC);
    p.candidates = new Random(25).doubles(CdLayout.MAX_CANDIDATES, -1.0, 1.0).toArray();
    p.points = new Random(26).doubles(2 * CdLayout.MAX_POINTS, 0.1, 0.9).toArray();
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(0, result));
    p.certificate().forEach((slot, expected) -> assertEquals(expected, ResultHeader.get(result, slot), 1e-10));
    for (int slot = CdLayout.SAMPLES; slot < CdLayout.LOSSES; slot++) {
      assertTrue(ResultHeader.get(result, slot) < 0.0, "slot " + slot);
    }
    p.free();
  }

  @Test
  void emptyPartitionsAndNoFeatures() {
    for (int[] shape : new int[][] {{12, 0}, {0, 0}}) {
      RoundChecks.emptyPartition(problem(new Random(27), shape[0], shape[1], DualProblem.LOGISTIC));
    }
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    RoundChecks.slotsOfTheCallerAreLeftAlone(problem(new Random(28), 20, 5, DualProblem.SQUARED));
  }
}
