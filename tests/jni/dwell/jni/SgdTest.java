package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Calls of model averaging: their numbers beside plain Java, cancellation. */
class SgdTest {
  /** Numbers are added in another order, in some dozens of steps. */
  private static final double TOLERANCE = 1e-12;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, NativeBridge.stateEntries());
    assertEquals(0, NativeBridge.stateBytes());
  }

  private static void agrees(SgdProblem.Expected expected, byte[] result) {
    assertEquals(expected.lossSum(), ResultHeader.get(result, SgdLayout.LOSS_SUM), TOLERANCE * Math.max(1.0, expected.lossSum()));
    assertEquals(expected.weightSum(), ResultHeader.get(result, SgdLayout.WEIGHT_SUM), TOLERANCE * Math.max(1.0, expected.weightSum()));
    assertEquals(0.0, ResultHeader.get(result, SgdLayout.DIVERGED));
    assertEquals(expected.rows(), ResultHeader.get(result, SgdLayout.ROWS));
    assertEquals(expected.entries(), ResultHeader.get(result, ResultHeader.NONZEROS));
    assertEquals(expected.cursor(), ResultHeader.get(result, SgdLayout.CURSOR));
    assertEquals(expected.steps(), ResultHeader.get(result, SgdLayout.STEPS));
    double[] vector = Partition.vector(result);
    for (int p = 0; p < vector.length; p++) {
      assertEquals(expected.vector()[p], vector[p], TOLERANCE * Math.max(1.0, Math.abs(vector[p])), "number " + p);
    }
  }

  @Test
  void callsAgreeWithPlainJavaForAllKindsOfData() {
    Random random = new Random(1);
    for (int loss = 0; loss <= SgdProblem.SOFTMAX; loss++) {
      for (Partition.Values values : Partition.Values.values()) {
        for (boolean weighted : new boolean[] {false, true}) {
          for (boolean scaled : new boolean[] {false, true}) {
            int n = random.nextBoolean() ? 40 : 600;
            SgdProblem p = new SgdProblem(random, 25, n, values, weighted, scaled, loss);
            p.eta0 = 0.01;
            p.l1 = random.nextBoolean() ? 0.02 : 0.0;
            p.l2 = random.nextInt(3) * 0.2;
            p.intercept = random.nextBoolean();
            p.kind = random.nextInt(2);
            p.cursor = random.nextInt(100);
            p.steps = 2 * p.cursor;
            p.budget = n / 2;
            byte[] result = p.run(SgdProblem.DESCEND);
            agrees(p.descended(), result);
            int beforeNanos = 8 * ResultHeader.SOLVER_NANOS;
            assertArrayEquals(Arrays.copyOf(result, beforeNanos), Arrays.copyOf(p.run(SgdProblem.DESCEND), beforeNanos));
            assertTrue(ResultHeader.get(result, ResultHeader.SOLVER_NANOS) > 0);
          }
        }
      }
    }
  }

  @Test
  void searchesAgreeWithPlainJava() {
    Random random = new Random(9);
    for (int loss = 0; loss <= SgdProblem.SOFTMAX; loss++) {
      for (long budget : new long[] {1, 13, 1000}) {
        SgdProblem p = new SgdProblem(random, 20, 60, Partition.Values.DOUBLES, true, random.nextBoolean(), loss);
        p.candidates = new double[] {1e-4, 0.02, 0.1, 0.5};
        p.l1 = random.nextInt(2) * 0.02;
        p.l2 = random.nextInt(2) * 0.1;
        p.kind = random.nextInt(2);
        p.budget = budget;
        p.cursor = 50;
        p.steps = 70;
        byte[] result = p.run(SgdProblem.SEARCH);
        double[] expected = p.searched();
        for (int c = 0; c < expected.length; c++) {
          assertEquals(expected[c], ResultHeader.get(result, SgdLayout.OBJECTIVES + c), 1e-10 * Math.max(1.0, expected[c]));
        }
        assertEquals(2.0 * expected.length * p.searchedRows(), ResultHeader.get(result, SgdLayout.ROWS));
        assertEquals(50.0, ResultHeader.get(result, SgdLayout.CURSOR));
        assertEquals(70.0, ResultHeader.get(result, SgdLayout.STEPS));
      }
    }
  }

  @Test
  void callsAtTheSameTimeGiveTheSameBytes() {
    int beforeNanos = 8 * ResultHeader.SOLVER_NANOS;
    for (SgdProblem.Native which : new SgdProblem.Native[] {SgdProblem.DESCEND, SgdProblem.SEARCH}) {
      SgdProblem p = new SgdProblem(new Random(18), 20, 60, Partition.Values.DOUBLES, true, true, SgdProblem.SOFTMAX);
      byte[] alone = Arrays.copyOf(p.run(which), beforeNanos);
      IntStream.range(0, 100).parallel().forEach(k -> assertArrayEquals(alone, Arrays.copyOf(p.run(which), beforeNanos)));
    }
  }

  private static void normsAre(SgdProblem p, double[] model, byte[] result, int l1Slot, int squareSlot) {
    double l1 = 0.0;
    double square = 0.0;
    for (int j = 0; j < p.m; j++) {
      l1 += Math.abs(model[j]) / Math.sqrt(p.scale[j]);
      square += model[j] * model[j] / p.scale[j];
    }
    assertEquals(l1, ResultHeader.get(result, l1Slot), TOLERANCE * l1);
    assertEquals(square, ResultHeader.get(result, squareSlot), TOLERANCE * square);
  }

  /** Norms of the model before and after the steps, and nothing behind the factors. */
  @Test
  void slotsOfADescent() {
    SgdProblem p = new SgdProblem(new Random(2), 20, 30, Partition.Values.DOUBLES, true, true, DualProblem.HINGE);
    byte[] result = p.run(SgdProblem.DESCEND);
    normsAre(p, p.shared, result, SgdLayout.L1_NORM, SgdLayout.SQUARE_NORM);
    double[] reached = Arrays.stream(Partition.vector(result)).map(w -> w / p.share).toArray();
    normsAre(p, reached, result, SgdLayout.REACHED_L1_NORM, SgdLayout.REACHED_SQUARE_NORM);
    for (int slot = SgdLayout.FACTOR + SgdLayout.factors(result).length; slot < ResultHeader.SLOTS; slot++) {
      assertEquals(0.0, ResultHeader.get(result, slot));
    }
  }

  @Test
  void aSearchRanksStepSizes() {
    SgdProblem p = new SgdProblem(new Random(3), 10, 200, Partition.Values.DOUBLES, false, true, DualProblem.LOGISTIC);
    p.candidates = new double[] {1e-9, 0.1, 1e9};
    p.kind = 0;
    p.budget = 100;
    byte[] result = p.run(SgdProblem.SEARCH);
    assertEquals(100.0, ResultHeader.get(result, SgdLayout.WEIGHT_SUM));
    assertEquals(600.0, ResultHeader.get(result, SgdLayout.ROWS));
    double[] objectives = new double[p.candidates.length];
    Arrays.setAll(objectives, c -> ResultHeader.get(result, SgdLayout.OBJECTIVES + c));
    assertTrue(objectives[1] < objectives[0]);
    assertTrue(objectives[1] < objectives[2]);
    for (int slot = SgdLayout.OBJECTIVES + objectives.length; slot < ResultHeader.SLOTS; slot++) {
      assertEquals(0.0, ResultHeader.get(result, slot));
    }
  }

  @Test
  void divergenceIsNoError() {
    SgdProblem p = new SgdProblem(new Random(4), 10, 50, Partition.Values.DOUBLES, false, false, DualProblem.SQUARED);
    p.eta0 = 1e100;
    p.kind = 0;
    byte[] result = p.run(SgdProblem.DESCEND);
    assertEquals(Double.POSITIVE_INFINITY, ResultHeader.get(result, SgdLayout.LOSS_SUM));
    assertEquals(1.0, ResultHeader.get(result, SgdLayout.DIVERGED));
    assertArrayEquals(Arrays.stream(p.shared).map(w -> p.share * w).toArray(), Partition.vector(result));
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    SgdProblem p = new SgdProblem(new Random(5), 20, 5, Partition.Values.DOUBLES, false, false, DualProblem.HINGE);
    for (SgdProblem.Native which : new SgdProblem.Native[] {SgdProblem.DESCEND, SgdProblem.SEARCH}) {
      Partition.Call call = p.call(which);
      Arrays.fill(call.result, (byte) 7);
      // Whole slots are compared: any byte may be in the time of the call.
      double before = ResultHeader.get(call.result, 0);
      SgdProblem.run(which, call);
      for (int slot = 0; slot < ResultHeader.SLOTS; slot++) {
        assertEquals(slot >= ResultHeader.FIRST_FREE, ResultHeader.get(call.result, slot) == before, "slot " + slot);
      }
    }
  }

  @Test
  void emptyPartitions() {
    for (int[] shape : new int[][] {{12, 0}, {0, 0}, {0, 9}}) {
      SgdProblem p =
          new SgdProblem(new Random(6), shape[0], shape[1], Partition.Values.ONES, false, true, SgdProblem.SOFTMAX);
      agrees(p.descended(), p.run(SgdProblem.DESCEND));
      assertTrue(Double.isFinite(ResultHeader.get(p.run(SgdProblem.SEARCH), SgdLayout.OBJECTIVES)));
    }
  }

  @Test
  void classesAreSignsAndBlocksAreTheSameRows() {
    SgdProblem p = new SgdProblem(new Random(7), 20, 50, Partition.Values.DENSE_DOUBLES, true, true, DualProblem.HINGE);
    byte[] expected = p.run(SgdProblem.DESCEND);
    Partition.Call c = p.call(SgdProblem.DESCEND);
    c.control[SgdLayout.CONTROL_FLAGS] |= NativeBridge.SGD_CLASSES;
    double[] classes = Arrays.stream(p.labels).map(y -> (y + 1.0) / 2.0).toArray();
    int at = 17;
    NativeBridge.sgdDescend(c.control, c.settings, new int[2][], new int[2][], new float[2][], cut(c.values64, at * p.m), cut(classes, at),
        cut(p.weights, at), p.scale, c.shared, c.result, c.cancellation);
    int beforeNanos = 8 * ResultHeader.SOLVER_NANOS;
    assertArrayEquals(Arrays.copyOf(expected, beforeNanos), Arrays.copyOf(c.result, beforeNanos));
    assertArrayEquals(Partition.vector(expected), Partition.vector(c.result));
  }

  private static double[][] cut(double[] numbers, int at) {
    return new double[][] {Arrays.copyOf(numbers, at), Arrays.copyOfRange(numbers, at, numbers.length)};
  }

  @Test
  void aCancelledCallEndsAtOnce() {
    SgdProblem p = new SgdProblem(new Random(8), 200, 300, Partition.Values.DOUBLES, false, false, DualProblem.LOGISTIC);
    p.budget = Long.MAX_VALUE;
    Cancelling.endsAtOnce(cancellation -> {
      Partition.Call call = p.call(SgdProblem.DESCEND);
      call.cancellation = cancellation;
      SgdProblem.run(SgdProblem.DESCEND, call);
    });
  }
}
