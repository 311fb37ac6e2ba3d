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

/** Calls of LDA: their numbers beside plain Java and the golden case, factors, the records of checks, cancellation. */
class LdaTest {
  /** Single precision in some dozens of steps, relative to the largest number of the vector. */
  private static final double SINGLE = 1e-4;

  /** Single precision in the golden case, whose numbers are of size one. */
  private static final double GOLDEN = 1e-4;

  /** Sums of a few dozen numbers in double precision. */
  private static final double SUMS = 1e-12;

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

  /** The document of tests/golden/lda.py as a partition: two topics, three words, words 0 and 2 with counts 2 and 1. */
  private static Partition.Call golden(LdaProblem.Native which) {
    long[] control = which == LdaProblem.BOUND ? LdaLayout.bound(1L << 40, 0, 3, 2, 0, 1, 500, 1)
        : LdaLayout.round(1L << 40, 0, 1, 3, 2, 1, false, false, 1, 0, 0, 1, 500, 10, 0, 1);
    Partition.Call call = new Partition.Call();
    call.control = control;
    // rho = (9 + 1)^-1.
    call.settings = LdaLayout.settings(0.5, 9.0, 1.0, 1.0, 1e-7, 0.0, 0.0, 0.25);
    call.offsets = new int[] {0, 2};
    call.indices = new int[] {0, 2};
    call.values64 = new double[] {2.0, 1.0};
    // lambda is 1, 0.5; 2, 1.5; 0.5, 3.
    call.shared = LdaProblem.bytes(new float[] {0.5f, 0.0f, 1.5f, 1.0f, 0.0f, 2.5f});
    call.result = new byte[which == LdaProblem.BOUND ? ResultHeader.BYTES : LdaLayout.length(3, 2, false)];
    return call;
  }

  private static void run(LdaProblem.Native which, Partition.Call c) {
    LdaProblem.run(which, c, new double[] {0.5, 0.5});
  }

  @Test
  void theGoldenDocument() {
    Partition.Call round = golden(LdaProblem.ROUND);
    run(LdaProblem.ROUND, round);
    // Of tests/golden/lda.json: lambda.
    double[] lambda = {2.785858305208167, 0.6641416947918329, 1.85, 1.4, 0.6349303415099466, 3.6150696584900532};
    float[] vector = LdaProblem.model(round.result, 6);
    for (int i = 0; i < 6; i++) {
      assertEquals(0.25 * (lambda[i] - 0.5), vector[i], GOLDEN, "number " + i);
    }
    assertEquals(3.0, ResultHeader.get(round.result, LdaLayout.TOKENS));
    assertEquals(0.1, ResultHeader.get(round.result, LdaLayout.RHO_SUM), SUMS);
    assertEquals(1.0, ResultHeader.get(round.result, LdaLayout.CURSOR));
    // Word 1 is in no document.
    float factor = (float) ResultHeader.get(round.result, LdaLayout.FACTOR);
    assertEquals(2.0, ResultHeader.get(round.result, LdaLayout.FACTORS));
    assertEquals(0.9f, factor);
    assertEquals((double) factor, ResultHeader.get(round.result, LdaLayout.FACTOR), "a factor is a float");
    assertEquals(0.25, ResultHeader.get(round.result, LdaLayout.FACTOR + 1));
    assertEquals(1.5f * factor * 0.25f, vector[2]);
    assertEquals(1.0f * factor * 0.25f, vector[3]);

    Partition.Call bound = golden(LdaProblem.BOUND);
    run(LdaProblem.BOUND, bound);
    // corpusBound of the same file.
    assertEquals(-6.401054556618516, ResultHeader.get(bound.result, LdaLayout.BOUND), GOLDEN);
    assertEquals(1.0, ResultHeader.get(bound.result, LdaLayout.DOCUMENTS));
    assertEquals(2.0, ResultHeader.get(bound.result, ResultHeader.NONZEROS));
    NativeBridge.freeFit(1L << 40);
  }

  @Test
  void roundsAgreeWithPlainJavaForAllKindsOfData() {
    Random random = new Random(1);
    for (Partition.Values values : Partition.Values.SPARSE) {
      for (int topics : new int[] {1, 3, 16, 21}) {
        LdaProblem p = new LdaProblem(random, 25, 40, values, topics);
        // All documents make as many iterations.
        p.tolerance = 1e-300;
        p.budget = 1 + random.nextInt(50);
        p.batch = 1 + random.nextInt(10);
        p.cursor = random.nextInt(100);
        p.seen = 3 * p.cursor;
        p.mean = topics % 2 == 0 || values == Partition.Values.DOUBLES;
        LdaProblem.Expected expected = p.stepped();
        byte[] result = p.run(LdaProblem.ROUND);
        assertEquals(expected.tokens(), ResultHeader.get(result, LdaLayout.TOKENS));
        assertEquals(expected.rhoSum(), ResultHeader.get(result, LdaLayout.RHO_SUM), SUMS * expected.rhoSum());
        assertEquals(expected.updates(), ResultHeader.get(result, LdaLayout.UPDATES));
        assertEquals((double) p.cap * expected.documents(), ResultHeader.get(result, LdaLayout.ITERATIONS));
        assertEquals(expected.documents(), ResultHeader.get(result, LdaLayout.DOCUMENTS));
        assertEquals(expected.cursor(), ResultHeader.get(result, LdaLayout.CURSOR));
        assertTrue(ResultHeader.get(result, ResultHeader.SOLVER_NANOS) > 0);
        float[] vector = p.model(result);
        double largest = Arrays.stream(expected.vector()).max().orElseThrow();
        for (int i = 0; i < vector.length; i++) {
          assertEquals(expected.vector()[i], vector[i], SINGLE * largest, "number " + i);
        }
        int words = 0;
        for (boolean touched : expected.touched()) {
          words += touched ? 1 : 0;
        }
        assertEquals(words, ResultHeader.get(result, LdaLayout.WORDS));
        untouchedNumbersAreProductsOfFactors(p, result, expected.touched());
      }
    }
  }

  private static void untouchedNumbersAreProductsOfFactors(LdaProblem p, byte[] result, boolean[] touched) {
    int factors = (int) ResultHeader.get(result, LdaLayout.FACTORS);
    assertTrue(factors >= 2 && factors <= LdaLayout.MAX_FACTORS, factors + " factors");
    assertEquals((float) p.share, ResultHeader.get(result, LdaLayout.FACTOR + factors - 1));
    float[] vector = p.model(result);
    for (int i = 0; i < p.shared.length; i++) {
      if (!touched[i / p.topics]) {
        float v = p.shared[i];
        for (int f = 0; f < factors; f++) {
          v *= (float) ResultHeader.get(result, LdaLayout.FACTOR + f);
        }
        assertEquals(Float.floatToIntBits(v), Float.floatToIntBits(vector[i]), "number " + i);
      }
    }
  }

  /** A product that underflows is what it is in Java: subnormal, or 0. */
  @Test
  void untouchedNumbersUnderflowAsInJava() {
    LdaProblem p = new LdaProblem(new Random(11), 41, 0, Partition.Values.FLOATS, 3);
    for (int i = 0; i < p.shared.length; i++) {
      p.shared[i] = (float) Math.pow(10.0, 29.0 - 0.5 * i);
    }
    int subnormal = 0;
    int gone = 0;
    for (double share : new double[] {0.3, 1e-20, 1e-41, 1e-50}) {
      p.share = share;
      byte[] result = p.run(LdaProblem.ROUND);
      untouchedNumbersAreProductsOfFactors(p, result, new boolean[41]);
      float[] vector = p.model(result);
      for (int i = 0; i < vector.length; i++) {
        subnormal += vector[i] > 0.0f && vector[i] < Float.MIN_NORMAL ? 1 : 0;
        gone += vector[i] == 0.0f && p.shared[i] > 0.0f ? 1 : 0;
      }
    }
    assertTrue(subnormal > 20 && gone > 20, subnormal + " " + gone);
  }

  /** Long enough for many slices, and rescaled. */
  @Test
  void roundsAreDeterministic() {
    LdaProblem p = new LdaProblem(new Random(2), 700, 300, Partition.Values.FLOATS, 40);
    p.overRelaxation = 0.7;
    p.pruning = 0.01;
    p.cap = 200;
    p.tau0 = 0.5;
    p.kappa = 0.3;
    p.concentration = true;
    byte[] first = p.run(LdaProblem.ROUND);
    byte[] again = p.run(LdaProblem.ROUND);
    assertTrue(ResultHeader.get(first, LdaLayout.FACTORS) > 2.0, "not rescaled");
    same(first, again);
  }

  /** How the documents are cut into blocks changes no bit. */
  @Test
  void blocksDoNotMatter() {
    Random random = new Random(13);
    for (Partition.Values values : Partition.Values.SPARSE) {
      LdaProblem p = new LdaProblem(random, 40, 50, values, 5);
      p.sample = 20;
      p.budget = 90;
      for (LdaProblem.Native which : new LdaProblem.Native[] {LdaProblem.ROUND, LdaProblem.BOUND}) {
        byte[] whole = p.run(which);
        for (int documents : new int[] {1, 7, 49, 50}) {
          same(whole, p.runInBlocks(which, documents));
        }
      }
    }
  }

  /** Kernels may switch subnormal numbers off; Java finds them on again. */
  @Test
  void arithmeticOfJavaIsUnchanged() {
    LdaProblem p = new LdaProblem(new Random(3), 60, 40, Partition.Values.FLOATS, 21);
    for (LdaProblem.Native which : new LdaProblem.Native[] {LdaProblem.ROUND, LdaProblem.BOUND}) {
      p.run(which);
      // Numbers of this moment: the compiler cannot know them.
      double least = Double.MIN_NORMAL * (0.5 + 0.0 * System.nanoTime());
      float single = Float.MIN_NORMAL * (0.5f + 0.0f * System.nanoTime());
      assertTrue(least > 0.0 && least + least == Double.MIN_NORMAL, "subnormal doubles are 0");
      assertTrue(single > 0.0f && single + single == Float.MIN_NORMAL, "subnormal floats are 0");
      // Half a unit is rounded to even, whatever the sign.
      double half = 0x1p-53 * (2.0 * least / Double.MIN_NORMAL);
      assertEquals(1.0, 1.0 + half);
      assertEquals(1.0 + 0x1p-51, 1.0 + 0x1p-52 + half);
      assertEquals(-1.0, -1.0 - half);
    }
    p.free();
  }

  /** The sums after the vector: of the expected logarithms of the documents' topics. */
  @Test
  void concentration() {
    LdaProblem p = new LdaProblem(new Random(3), 21, 30, Partition.Values.DOUBLES, 3);
    byte[] without = p.run(LdaProblem.ROUND);
    p.concentration = true;
    byte[] with = p.run(LdaProblem.ROUND);
    assertEquals(ResultHeader.BYTES + 4 * p.shared.length + 4, without.length);
    assertArrayEquals(p.model(without), p.model(with));
    double documents = ResultHeader.get(without, LdaLayout.DOCUMENTS);
    double mean = 0.0;
    for (int k = 0; k < 3; k++) {
      // The slots of the sums follow the vector.
      double sum = ResultHeader.get(with, without.length / 8 + k);
      assertTrue(sum < 0.0);
      mean += Math.exp(sum / documents);
    }
    // Geometric means of shares that add up to 1.
    assertTrue(mean > 0.1 && mean < 1.0, "mean " + mean);
  }

  /** The bound of a range is the sum of those of its documents, and highest, up to rounding, where gamma has converged. */
  @Test
  void boundsOfRanges() {
    LdaProblem p = new LdaProblem(new Random(4), 30, 40, Partition.Values.FLOATS, 5);
    p.cap = 500;
    p.tolerance = 1e-5;
    byte[] all = p.run(LdaProblem.BOUND);
    int filled = 0;
    double[] sums = new double[2];
    for (int d = 0; d < p.n; d++) {
      p.first = d;
      p.last = d + 1;
      byte[] one = p.run(LdaProblem.BOUND);
      sums[0] += ResultHeader.get(one, LdaLayout.BOUND);
      sums[1] += ResultHeader.get(one, LdaLayout.BOUND_TOKENS);
      filled += p.offsets[d + 1] > p.offsets[d] ? 1 : 0;
      assertEquals(p.offsets[d + 1] - p.offsets[d], ResultHeader.get(one, ResultHeader.NONZEROS));
    }
    assertEquals(sums[0], ResultHeader.get(all, LdaLayout.BOUND), SUMS * Math.abs(sums[0]));
    assertEquals(sums[1], ResultHeader.get(all, LdaLayout.BOUND_TOKENS));
    assertEquals(filled, ResultHeader.get(all, LdaLayout.DOCUMENTS));
    assertTrue(sums[0] < 0.0);
    p.first = 0;
    for (int sample : new int[] {0, 7, p.n}) {
      p.sample = sample;
      p.last = sample;
      byte[] round = p.run(LdaProblem.ROUND);
      byte[] bound = p.run(LdaProblem.BOUND);
      assertEquals(ResultHeader.get(bound, LdaLayout.BOUND), ResultHeader.get(round, LdaLayout.BOUND), "sample of " + sample);
      assertEquals(ResultHeader.get(bound, LdaLayout.BOUND_TOKENS), ResultHeader.get(round, LdaLayout.BOUND_TOKENS));
    }
    p.cap = 1;
    assertTrue(ResultHeader.get(p.run(LdaProblem.BOUND), LdaLayout.BOUND) < sums[0]);
  }

  @Test
  void partitionsWithoutDocuments() {
    LdaProblem p = new LdaProblem(new Random(5), 6, 0, Partition.Values.ONES, 3);
    byte[] result = p.run(LdaProblem.ROUND);
    assertArrayEquals(halves(p), p.model(result));
    assertEquals(0.0, ResultHeader.get(result, LdaLayout.UPDATES));
    assertEquals(0.0, ResultHeader.get(p.run(LdaProblem.BOUND), LdaLayout.BOUND));
    // Counts of 0 are like none.
    LdaProblem zeros = new LdaProblem(new Random(6), 6, 9, Partition.Values.FLOATS, 3);
    Arrays.fill(zeros.values32, 0.0f);
    result = zeros.run(LdaProblem.ROUND);
    assertArrayEquals(halves(zeros), zeros.model(result));
    assertEquals(0.0, ResultHeader.get(result, LdaLayout.DOCUMENTS));
  }

  /** The shared model times the share. */
  private static float[] halves(LdaProblem p) {
    assertEquals(0.5, p.share);
    float[] halves = p.shared.clone();
    for (int i = 0; i < halves.length; i++) {
      halves[i] *= 0.5f;
    }
    return halves;
  }

  @Test
  void slotsOfTheCallerAreLeftAlone() {
    LdaProblem p = new LdaProblem(new Random(7), 20, 5, Partition.Values.DOUBLES, 3);
    for (LdaProblem.Native which : new LdaProblem.Native[] {LdaProblem.ROUND, LdaProblem.BOUND}) {
      Partition.Call call = p.call(which);
      Arrays.fill(call.result, (byte) 7);
      LdaProblem.run(which, call);
      for (int i = 8 * ResultHeader.FIRST_FREE; i < ResultHeader.BYTES; i++) {
        assertEquals(7, call.result[i], "byte " + i);
      }
      for (int slot : new int[] {8, 12, 13, 14, 40, 55}) {
        assertEquals(0.0, ResultHeader.get(call.result, slot), "slot " + slot);
      }
    }
  }

  @Test
  void memoryIsCountedOnceForAllCallsAndFreedWithTheFit() {
    LdaProblem p = new LdaProblem(new Random(8), 20, 200, Partition.Values.DOUBLES, 3);
    for (int repetition = 0; repetition < 2; repetition++) {
      p.run(LdaProblem.ROUND);
      p.run(LdaProblem.BOUND);
      assertEquals(1, NativeBridge.stateEntries());
    }
    long bytes = NativeBridge.stateBytes();
    assertTrue(bytes > 0);
    assertEquals(bytes, p.free());
    // A late call has its result, and leaves nothing.
    p.run(LdaProblem.ROUND);
    assertEquals(0, NativeBridge.stateEntries());
  }

  @Test
  void aBlockIsCheckedOnce() {
    LdaProblem p = new LdaProblem(new Random(14), 20, 200, Partition.Values.DOUBLES, 3);
    p.run(LdaProblem.ROUND);
    // Arrays that were checked are trusted at places that the fingerprint does not sample.
    Partition.Call call = Partition.copied(p.call(LdaProblem.BOUND));
    call.values64[1] = 1e-9;
    LdaProblem.run(LdaProblem.BOUND, call);
    call.values64[0] = 1e-9;
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> LdaProblem.run(LdaProblem.BOUND, call));
    assertTrue(e.getMessage().contains("has a count of"), e.getMessage());
  }

  /**
   * A call finds the memory of the call before it, also of one that failed. The memory is counted, freed with the fit, and changes no
   * number.
   */
  @Test
  void memoryIsKeptFromCallToCall() {
    LdaProblem p = new LdaProblem(new Random(12), 31, 40, Partition.Values.FLOATS, 3);
    p.sample = 10;
    byte[] fresh = p.run(LdaProblem.ROUND);
    byte[] freshBound = p.run(LdaProblem.BOUND);
    long bytes = NativeBridge.stateBytes();
    assertTrue(bytes >= 4 * 93, bytes + " bytes");
    for (int spoiled : new int[] {-1, 0, 50, 92}) {
      for (LdaProblem.Native which : new LdaProblem.Native[] {LdaProblem.ROUND, LdaProblem.BOUND}) {
        Partition.Call call = p.call(which);
        if (spoiled >= 0) {
          Arrays.fill(call.shared, 4 * spoiled, 4 * spoiled + 4, (byte) 0xff);
          assertThrows(IllegalArgumentException.class, () -> LdaProblem.run(which, call));
          assertEquals(bytes, NativeBridge.stateBytes());
        }
        same(fresh, p.run(LdaProblem.ROUND));
        same(freshBound, p.run(LdaProblem.BOUND));
        assertEquals(bytes, NativeBridge.stateBytes());
      }
    }
    assertEquals(bytes, p.free());
    // A late call of the fit finds none, and leaves none.
    same(fresh, p.run(LdaProblem.ROUND));
    assertEquals(0, NativeBridge.stateBytes());
  }

  private static void same(byte[] expected, byte[] actual) {
    for (byte[] result : new byte[][] {expected, actual}) {
      Arrays.fill(result, 8 * ResultHeader.SOLVER_NANOS, 8 * ResultHeader.SOLVER_NANOS + 8, (byte) 0);
    }
    assertArrayEquals(expected, actual);
  }

  @Test
  void aCancelledCallEndsAtOnce() {
    LdaProblem p = new LdaProblem(new Random(9), 200, 300, Partition.Values.DOUBLES, 20);
    p.budget = Long.MAX_VALUE;
    Cancelling.endsAtOnce(cancellation -> cancelled(p, LdaProblem.ROUND, cancellation));
  }

  private static void cancelled(LdaProblem p, LdaProblem.Native which, Cancellation cancellation) {
    Partition.Call call = p.call(which);
    call.cancellation = cancellation;
    LdaProblem.run(which, call);
  }
}
