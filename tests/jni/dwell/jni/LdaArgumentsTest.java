package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Wrong and hostile arguments of LDA: always an exception that names the argument, never a crash. */
class LdaArgumentsTest {
  private static final LdaProblem.Native[] CALLS = {LdaProblem.ROUND, LdaProblem.BOUND};

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** One call refuses what {@code spoil} did, with a message that has {@code part} in it. */
  private static void refused(LdaProblem.Native which, String part, Consumer<Partition.Call> spoil) {
    LdaProblem p = new LdaProblem(new Random(8), 30, 10, Partition.Values.DOUBLES, 4);
    Partition.Call call = Partition.copied(p.call(which));
    spoil.accept(call);
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> LdaProblem.run(which, call), part);
    assertTrue(e.getMessage().contains(part), e.getMessage());
    p.free();
    assertEquals(0, NativeBridge.stateEntries());
  }

  /** Both do. */
  private static void refused(String part, Consumer<Partition.Call> spoil) {
    for (LdaProblem.Native which : CALLS) {
      refused(which, part, spoil);
    }
  }

  @Test
  void nulls() {
    refused("control", c -> c.control = null);
    refused("settings", c -> c.settings = null);
    refused("alpha is null", c -> c.fields.put("alpha", null));
    refused("offsets", c -> c.offsets = null);
    refused("words is null", c -> c.indices = null);
    refused("shared", c -> c.shared = null);
    refused("result", c -> c.result = null);
    refused("cancellation", c -> c.cancellation = null);
  }

  @Test
  void lengths() {
    refused("control", c -> c.control = Arrays.copyOf(c.control, 14));
    refused("control", c -> c.control = Arrays.copyOf(c.control, 16));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 7));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 9));
    refused("alpha", c -> c.fields.put("alpha", new double[3]));
    refused("offset", c -> c.offsets = new int[0]);
    refused("the last offset is", c -> c.offsets = Arrays.copyOf(c.offsets, 5));
    refused("indices", c -> c.indices = Arrays.copyOf(c.indices, c.indices.length - 1));
    refused("values", c -> c.values64 = Arrays.copyOf(c.values64, 3));
    refused("values32", c -> c.values32 = new float[c.indices.length]);
    for (int length : new int[] {8 * 59, 476, 484, 8 * 61, 8 * 120}) {
      refused("shared", c -> c.shared = new byte[length]);
    }
    refused("result", c -> c.result = new byte[8 * 63]);
    refused(LdaProblem.ROUND, "result", c -> c.control[7] = NativeBridge.LDA_CONCENTRATION);
  }

  /** A bound has a result that can be as long as a model. */
  @Test
  void theResultIsNotTheSharedModel() {
    LdaProblem p = new LdaProblem(new Random(9), 32, 5, Partition.Values.ONES, 4);
    assertEquals(Partition.HEADER, 4 * p.shared.length);
    Partition.Call call = p.call(LdaProblem.BOUND);
    call.result = call.shared;
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> LdaProblem.run(LdaProblem.BOUND, call));
    assertTrue(e.getMessage().contains("result is the array of shared"), e.getMessage());
  }

  @Test
  void numbersOfTheRequest() {
    for (long[] bad : new long[][] {{0, 0}, {0, 2}, {2, -1}, {2, 1L << 31}, {4, 0}, {4, 1L << 31}, {5, 0}, {5, 1L << 31}, {7, 4}, {7, -1},
        {9, -1}, {10, -1}, {12, 0}, {12, 1L << 31}}) {
      refused("control[" + bad[0] + "]", c -> c.control[(int) bad[0]] = bad[1]);
    }
    for (long[] bad : new long[][] {{6, 0}, {6, 1L << 31}, {8, 0}, {8, -1}, {11, 0}, {11, 1L << 31}, {13, 0}, {14, -1}, {14, 1L << 31}}) {
      refused(LdaProblem.ROUND, "control[" + bad[0] + "]", c -> c.control[(int) bad[0]] = bad[1]);
    }
    refused("byte[]", c -> c.control[4] = Integer.MAX_VALUE);
    refused("shared", c -> c.control[4] = 29);
    refused("alpha", c -> c.control[5] = 5);
    refused(LdaProblem.BOUND, "control[10]", c -> c.control[9] = 11);
    refused(LdaProblem.BOUND, "documents 0 until 11 of 10", c -> c.control[10] = 11);
    refused(LdaProblem.ROUND, "documents 0 until 11 of 10", c -> c.control[14] = 11);
    for (double bad : new double[] {-1.0, Double.NaN, Double.POSITIVE_INFINITY}) {
      refused("eta", c -> c.settings[0] = bad);
      refused("tolerance", c -> c.settings[4] = bad);
      refused("over_relaxation", c -> c.settings[5] = bad);
      refused("pruning", c -> c.settings[6] = bad);
      refused("alpha", c -> c.field("alpha")[3] = bad);
      refused(LdaProblem.ROUND, "tau0", c -> c.settings[1] = bad);
      refused(LdaProblem.ROUND, "kappa", c -> c.settings[2] = bad);
      refused(LdaProblem.ROUND, "base", c -> c.settings[3] = bad);
      refused(LdaProblem.ROUND, "share", c -> c.settings[7] = bad);
    }
  }

  @Test
  void structure() {
    refused("offsets", c -> c.offsets[0] = 1);
    refused("offsets", c -> c.offsets[3] = -5);
    refused("offsets", c -> c.offsets[3] = Integer.MAX_VALUE);
    refused("30", c -> c.indices[5] = 30);
    refused("-1", c -> c.indices[5] = -1);
    refused("increase", c -> Arrays.fill(c.indices, 0));
    refused("finite", c -> c.values64[4] = Double.NaN);
    for (double bad : new double[] {-1.0, 1e-7, 1e10}) {
      refused("has a count of", c -> c.values64[c.values64.length - 1] = bad);
    }
    refused("word 0 and topic 2", c -> Arrays.fill(c.shared, 8, 12, (byte) 0xff));
    refused("word 29 and topic 3", c -> c.shared[4 * 120 - 1] = (byte) 0xbf);
  }

  @Test
  void modelsThatNoArrayHolds() {
    assertEquals(120, LdaLayout.entries(30, 4));
    assertEquals(480, LdaLayout.vectorBytes(30, 4));
    assertEquals(64, LdaLayout.vectorBytes(5, 3));
    assertEquals(Partition.HEADER + 64, LdaLayout.length(5, 3, false));
    assertEquals(Partition.HEADER + 64 + 24, LdaLayout.length(5, 3, true));
    int most = (int) LdaLayout.mostEntries(1);
    assertTrue(LdaLayout.length(most, 1, true) > Integer.MAX_VALUE - 32 && LdaLayout.length(most, 1, true) < Integer.MAX_VALUE - 8);
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.vectorBytes(most + 1, 1));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(0, 4));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(4, 0));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(Integer.MAX_VALUE, 1));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.length(Integer.MAX_VALUE, Integer.MAX_VALUE, true));
  }

  /** Thousands of calls with everything random: results and exceptions of the three families only. */
  @Test
  void fuzz() {
    Random random = new Random(16);
    int results = 0;
    int refused = 0;
    for (int i = 0; i < 8000; i++) {
      LdaProblem p = new LdaProblem(random, 1 + random.nextInt(12), random.nextInt(8), Partition.Values.values()[random.nextInt(3)],
          1 + random.nextInt(20));
      p.concentration = random.nextBoolean();
      p.tau0 = random.nextInt(2) * 10.0;
      p.pruning = random.nextInt(2) * 0.01;
      p.overRelaxation = random.nextInt(2) * 0.7;
      LdaProblem.Native which = CALLS[random.nextInt(2)];
      Partition.Call call = Partition.copied(p.call(which));
      for (int spoiled = random.nextInt(4); spoiled > 0; spoiled--) {
        Spoiling.spoil(call, random);
      }
      long deadline = System.nanoTime() + 20_000_000;
      call.cancellation = () -> System.nanoTime() > deadline;
      try {
        LdaProblem.run(which, call);
        results++;
      } catch (IllegalArgumentException | CancellationException e) {
        refused++;
      }
      NativeBridge.freeFit(call.control == null || call.control.length < 2 ? p.fit : call.control[1]);
    }
    assertTrue(results > 1000 && refused > 1000, results + " " + refused);
    assertEquals(0, NativeBridge.stateEntries());
    System.gc();
  }

  /** Java threads that change the arrays of running calls break numbers, not the JVM. */
  @Test
  void arraysThatChangeDuringACall() throws InterruptedException {
    LdaProblem p = new LdaProblem(new Random(17), 300, 50, Partition.Values.DOUBLES, 20);
    AtomicBoolean done = new AtomicBoolean();
    int[] indices = p.indices.clone();
    int[] offsets = p.offsets.clone();
    double[] counts = p.values64.clone();
    Thread vandal = new Thread(() -> {
      Random random = new Random(18);
      while (!done.get()) {
        p.indices[random.nextInt(indices.length)] = random.nextInt();
        p.offsets[random.nextInt(offsets.length)] = random.nextInt();
        p.values64[random.nextInt(counts.length)] = Double.longBitsToDouble(random.nextLong());
        System.arraycopy(indices, 0, p.indices, 0, indices.length);
        System.arraycopy(offsets, 0, p.offsets, 0, offsets.length);
        System.arraycopy(counts, 0, p.values64, 0, counts.length);
      }
    });
    vandal.start();
    try {
      for (int i = 0; i < 1000; i++) {
        try {
          p.run(CALLS[i % 2]);
        } catch (IllegalArgumentException | NativeException e) {
          assertTrue(e.getMessage().length() > 10);
        }
      }
    } finally {
      done.set(true);
      vandal.join();
    }
    p.free();
    System.gc();
  }
}
