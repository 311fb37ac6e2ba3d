package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Calls of model averaging: numbers against plain Java, the records of checks, cancellation. */
class SgdTest {
  /** Other orders of addition, in some dozens of steps. */
  private static final double TOLERANCE = 1e-12;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @AfterEach
  void nothingIsLeft() {
    NativeBridge.expire(0);
    assertEquals(0, NativeBridge.stateEntries());
    assertEquals(0, NativeBridge.stateBytes());
  }

  private static void agrees(SgdProblem.Expected expected, byte[] result) {
    assertEquals(expected.lossSum(), Partition.slot(result, 0), TOLERANCE * Math.max(1.0, expected.lossSum()));
    assertEquals(expected.weightSum(), Partition.slot(result, 1), TOLERANCE * Math.max(1.0, expected.weightSum()));
    assertEquals(0.0, Partition.slot(result, 4));
    assertEquals(expected.rows(), Partition.slot(result, 5));
    assertEquals(expected.cursor(), Partition.slot(result, 9));
    assertEquals(expected.steps(), Partition.slot(result, 10));
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
            p.running = random.nextBoolean();
            p.intercept = random.nextBoolean();
            p.kind = random.nextInt(3);
            p.cursor = random.nextInt(100);
            p.steps = 2 * p.cursor;
            p.budget = n / 2;
            byte[] result = p.run(SgdProblem.DESCEND);
            agrees(p.descended(), result);
            assertArrayEquals(Arrays.copyOf(result, 56), Arrays.copyOf(p.run(SgdProblem.DESCEND), 56));
            assertTrue(Partition.slot(result, 7) > 0);
            agrees(p.evaluated(), p.run(SgdProblem.EVALUATE));
            assertEquals(p.indices.length, Partition.slot(p.run(SgdProblem.EVALUATE), 6));
          }
        }
      }
    }
  }

  /** Norms, the parts of the loss by label, and a dual point of which everything is known. */
  @Test
  void slotsOfAnEvaluation() {
    SgdProblem p = new SgdProblem(new Random(2), 20, 30, Partition.Values.DOUBLES, true, true, DualProblem.HINGE);
    byte[] result = p.run(SgdProblem.EVALUATE);
    double l1 = 0.0;
    double square = 0.0;
    for (int j = 0; j < p.m; j++) {
      l1 += Math.abs(p.shared[j]) / Math.sqrt(p.scale[j]);
      square += p.shared[j] * p.shared[j] / p.scale[j];
    }
    assertEquals(l1, Partition.slot(result, 2), TOLERANCE * l1);
    assertEquals(square, Partition.slot(result, 3), TOLERANCE * square);
    // The sum of weight times derivative over the rows with either label: derivatives are minus label times p.
    double positive = Partition.slot(result, 11);
    double negative = Partition.slot(result, 12);
    double intercept = Partition.vector(result)[p.m];
    assertTrue(positive > 0.0 && negative > 0.0);
    assertEquals(p.factor * (negative - positive), intercept, TOLERANCE);
    p.dual = new double[] {Math.min(1.0, positive / negative), Math.min(1.0, negative / positive)};
    byte[] dual = p.run(SgdProblem.EVALUATE);
    assertEquals(0.0, Partition.vector(dual)[p.m], TOLERANCE);
    // The conjugate of the hinge is -p.
    assertEquals(-2.0 * Math.min(positive, negative), Partition.slot(dual, 0), 10 * TOLERANCE);
    for (int slot = 13; slot < 64; slot++) {
      assertEquals(0.0, Partition.slot(dual, slot));
    }
  }

  @Test
  void aSearchRanksStepSizes() {
    SgdProblem p = new SgdProblem(new Random(3), 10, 200, Partition.Values.DOUBLES, false, true, DualProblem.LOGISTIC);
    p.candidates = new double[] {1e-9, 0.1, 1e9};
    p.kind = 0;
    p.budget = 100;
    byte[] result = p.run(SgdProblem.SEARCH);
    assertEquals(100.0, Partition.slot(result, 1));
    assertEquals(600.0, Partition.slot(result, 5));
    assertTrue(Partition.slot(result, 17) < Partition.slot(result, 16));
    assertTrue(Partition.slot(result, 17) < Partition.slot(result, 18));
    for (int slot = 19; slot < 64; slot++) {
      assertEquals(0.0, Partition.slot(result, slot));
    }
  }

  @Test
  void divergenceIsNoError() {
    SgdProblem p = new SgdProblem(new Random(4), 10, 50, Partition.Values.DOUBLES, false, false, DualProblem.SQUARED);
    p.eta0 = 1e100;
    p.kind = 0;
    byte[] result = p.run(SgdProblem.DESCEND);
    assertEquals(Double.POSITIVE_INFINITY, Partition.slot(result, 0));
    assertEquals(1.0, Partition.slot(result, 4));
    assertArrayEquals(Arrays.stream(p.shared).map(w -> p.share * w).toArray(), Partition.vector(result));
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    SgdProblem p = new SgdProblem(new Random(5), 20, 5, Partition.Values.DOUBLES, false, false, DualProblem.HINGE);
    for (SgdProblem.Native which : new SgdProblem.Native[] {SgdProblem.DESCEND, SgdProblem.SEARCH, SgdProblem.EVALUATE}) {
      Partition.Call call = p.call(which);
      Arrays.fill(call.result, (byte) 7);
      SgdProblem.run(which, call);
      for (int i = 0; i < Partition.HEADER; i++) {
        assertEquals(i >= 448, call.result[i] == 7, "byte " + i);
      }
    }
  }

  @Test
  void emptyPartitions() {
    for (int[] shape : new int[][] {{12, 0}, {0, 0}, {0, 9}}) {
      SgdProblem p =
          new SgdProblem(new Random(6), shape[0], shape[1], Partition.Values.ONES, false, true, SgdProblem.SOFTMAX);
      agrees(p.descended(), p.run(SgdProblem.DESCEND));
      agrees(p.evaluated(), p.run(SgdProblem.EVALUATE));
      assertTrue(Double.isFinite(Partition.slot(p.run(SgdProblem.SEARCH), 16)));
    }
  }

  @Test
  void aCheckIsRecordedOnceForAllCallsAndFreedWithTheFit() {
    SgdProblem p = new SgdProblem(new Random(7), 20, 50, Partition.Values.DOUBLES, true, true, DualProblem.HINGE);
    for (int repetition = 0; repetition < 2; repetition++) {
      p.run(SgdProblem.DESCEND);
      p.run(SgdProblem.EVALUATE);
      p.run(SgdProblem.SEARCH);
      assertEquals(1, NativeBridge.stateEntries());
    }
    p.partition = 4;
    p.run(SgdProblem.EVALUATE);
    assertEquals(2, NativeBridge.stateEntries());
    long bytes = NativeBridge.stateBytes();
    assertTrue(bytes > 0);
    assertEquals(-1, NativeBridge.stateSize(p.fit, p.partition));
    // What was validated is trusted, at places that are not sampled; a fit that was freed has nothing left that is trusted.
    SgdProblem.Call call = Partition.copied(p.call(SgdProblem.EVALUATE));
    call.values64[1] = Double.NaN;
    SgdProblem.run(SgdProblem.EVALUATE, call);
    assertEquals(1.0, Partition.slot(call.result, 4));
    assertEquals(bytes, p.free());
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> SgdProblem.run(SgdProblem.EVALUATE, call));
    assertTrue(e.getMessage().contains("not finite"), e.getMessage());
    // A late call has its result, and leaves no record.
    agrees(p.evaluated(), p.run(SgdProblem.EVALUATE));
    assertEquals(0, NativeBridge.stateEntries());
  }

  @Test
  void aCancelledCallEndsSoon() throws InterruptedException {
    SgdProblem p = new SgdProblem(new Random(8), 200, 300, Partition.Values.DOUBLES, false, false, DualProblem.LOGISTIC);
    p.budget = Long.MAX_VALUE;
    Cancelling.endsSoon(cancellation -> {
      Partition.Call call = p.call(SgdProblem.DESCEND);
      call.cancellation = cancellation;
      SgdProblem.run(SgdProblem.DESCEND, call);
    });
  }
}
