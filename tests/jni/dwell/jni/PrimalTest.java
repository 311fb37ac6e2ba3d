package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Compares native primal rounds with the definitions, calculated in plain Java on dense columns. */
class PrimalTest {
  /** Some dozens of products are added in another order. */
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
            Problem p = new PrimalProblem(random, 35, n, values, weighted, centred);
            p.theta1 = 0.5;
            p.theta2 = 0.25;
            RoundChecks.threeRoundsAndAProduct(p, TOLERANCE);
          }
        }
      }
    }
  }

  @Test
  void threadsDoNotRace() {
    RoundChecks.threadsDoNotRace(() -> new PrimalProblem(new Random(2), 200, 5000, Problem.Values.DOUBLES, true, true));
  }

  @Test
  void withoutACertificateItsSlotsAreNaN() {
    Problem p = new PrimalProblem(new Random(3), 20, 5, Problem.Values.DOUBLES, false, true);
    p.certificate = false;
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(0, result));
    for (int slot : new int[] {CdLayout.CONJUGATE, CdLayout.RATIO, CdLayout.CORRELATION}) {
      assertTrue(Double.isNaN(ResultHeader.get(result, slot)), "slot " + slot);
    }
    p.free();
  }

  @Test
  void emptyPartitionsAndNoRows() {
    for (int[] shape : new int[][] {{12, 0}, {0, 0}}) {
      RoundChecks.emptyPartition(new PrimalProblem(new Random(4), shape[0], shape[1], Problem.Values.ONES, true, true));
    }
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    RoundChecks.slotsOfTheCallerAreLeftAlone(new PrimalProblem(new Random(5), 20, 5, Problem.Values.DOUBLES, false, false));
  }
}
