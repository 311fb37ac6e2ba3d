package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Wrong and hostile arguments of LDA. Each is an exception that names the argument, never a crash. */
class LdaArgumentsTest {
  private static final LdaProblem.Native[] CALLS = {LdaProblem.ROUND, LdaProblem.BOUND};

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** A call is refused when {@code spoil} has spoiled it, with a message that has {@code part} in it. */
  private static void refused(LdaProblem.Native which, String part, Consumer<Partition.Call> spoil) {
    LdaProblem p = new LdaProblem(new Random(8), 30, 10, Partition.Values.DOUBLES, 4);
    Partition.Call call = Partition.copied(p.call(which));
    spoil.accept(call);
    Spoiling.refused(part, () -> LdaProblem.run(which, call));
    p.free();
    assertEquals(0, NativeBridge.stateEntries());
  }

  /** Both calls are refused. */
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
    refused("words[0] is null", c -> c.indices = null);
    refused("shared", c -> c.shared = null);
    refused("result", c -> c.result = null);
    refused("cancellation", c -> c.cancellation = null);
  }

  @Test
  void lengths() {
    refused("control", c -> c.control = Arrays.copyOf(c.control, 15));
    refused("control", c -> c.control = Arrays.copyOf(c.control, 17));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 7));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 9));
    refused("alpha", c -> c.fields.put("alpha", new double[3]));
    refused("offset", c -> c.offsets = new int[0]);
    refused("the last offset is", c -> c.offsets = Arrays.copyOf(c.offsets, 5));
    refused("there are ", c -> c.indices = Arrays.copyOf(c.indices, c.indices.length - 1));
    refused("values", c -> c.values64 = Arrays.copyOf(c.values64, 3));
    refused("values32", c -> c.values32 = new float[c.indices.length]);
    for (int length : new int[] {8 * 59, 476, 484, 8 * 61, 8 * 120}) {
      refused("shared", c -> c.shared = new byte[length]);
    }
    refused("result", c -> c.result = new byte[8 * 63]);
    refused(LdaProblem.ROUND, "result", c -> c.control[LdaLayout.CONTROL_FLAGS] = NativeBridge.LDA_CONCENTRATION);
  }

  /** Each array of arrays has one for each block. */
  @Test
  void blocks() {
    LdaProblem p = new LdaProblem(new Random(9), 30, 10, Partition.Values.DOUBLES, 4);
    Partition.Call c = p.call(LdaProblem.ROUND);
    int[][] offsets = {c.offsets};
    int[][] words = {c.indices};
    double[][] counts = {c.values64};
    refused("words has length 0", c, offsets, new int[0][], null, counts);
    refused("values32 has length 2", c, offsets, words, new float[2][], counts);
    refused("values64 has length 2", c, offsets, words, null, new double[2][]);
    refused("offsets[0] is null", c, new int[1][], words, null, counts);
    refused("words[0] is null", c, offsets, new int[1][], null, counts);
    refused("are both given", c, offsets, words, new float[1][c.values64.length], counts);
    p.free();
  }

  private static void refused(String part, Partition.Call c, int[][] offsets, int[][] words, float[][] floats, double[][] doubles) {
    Spoiling.refused(part, () -> NativeBridge.ldaRound(
        c.control, c.settings, c.field("alpha"), offsets, words, floats, doubles, c.shared, c.result, c.cancellation));
  }

  /** All calls refuse each of these numbers in a slot of control. */
  private static void bad(int slot, long... numbers) {
    for (long number : numbers) {
      refused("control[" + slot + "]", c -> c.control[slot] = number);
    }
  }

  /** A round refuses each of these numbers in a slot of control, which a bound does not read. */
  private static void badInRound(int slot, long... numbers) {
    for (long number : numbers) {
      refused(LdaProblem.ROUND, "control[" + slot + "]", c -> c.control[slot] = number);
    }
  }

  @Test
  void numbersOfTheRequest() {
    bad(LdaLayout.CONTROL_VERSION, 0, 3);
    bad(LdaLayout.CONTROL_PARTITION, -1, 1L << 31);
    bad(LdaLayout.CONTROL_WORDS, 0, 1L << 31);
    bad(LdaLayout.CONTROL_TOPICS, 0, 1L << 31);
    bad(LdaLayout.CONTROL_FLAGS, 4, -1);
    bad(LdaLayout.CONTROL_CURSOR, -1);
    bad(LdaLayout.CONTROL_SEEN, -1);
    bad(LdaLayout.CONTROL_ITERATIONS, 0, 1L << 31);
    bad(LdaLayout.CONTROL_THREADS, 0, 1L << 31);
    badInRound(LdaLayout.CONTROL_BATCH, 0, 1L << 31);
    badInRound(LdaLayout.CONTROL_BUDGET, 0, -1);
    badInRound(LdaLayout.CONTROL_WORKERS, 0, 1L << 31);
    badInRound(LdaLayout.CONTROL_CORPUS, 0);
    badInRound(LdaLayout.CONTROL_SAMPLE, -1, 1L << 31);
    refused("byte[]", c -> c.control[LdaLayout.CONTROL_WORDS] = Integer.MAX_VALUE);
    refused("shared", c -> c.control[LdaLayout.CONTROL_WORDS] = 29);
    refused("alpha", c -> c.control[LdaLayout.CONTROL_TOPICS] = 5);
    refused(LdaProblem.BOUND, "control[10]", c -> c.control[LdaLayout.CONTROL_FIRST] = 11);
    refused(LdaProblem.BOUND, "documents 0 until 11 of 10", c -> c.control[LdaLayout.CONTROL_LAST] = 11);
    refused(LdaProblem.ROUND, "documents 0 until 11 of 10", c -> c.control[LdaLayout.CONTROL_SAMPLE] = 11);
    for (double bad : new double[] {-1.0, Double.NaN, Double.POSITIVE_INFINITY}) {
      refused("eta", c -> c.settings[LdaLayout.SETTING_ETA] = bad);
      refused("tolerance", c -> c.settings[LdaLayout.SETTING_TOLERANCE] = bad);
      refused("over_relaxation", c -> c.settings[LdaLayout.SETTING_OVER_RELAXATION] = bad);
      refused("pruning", c -> c.settings[LdaLayout.SETTING_PRUNING] = bad);
      refused("alpha", c -> c.field("alpha")[3] = bad);
      refused(LdaProblem.ROUND, "tau0", c -> c.settings[LdaLayout.SETTING_TAU0] = bad);
      refused(LdaProblem.ROUND, "kappa", c -> c.settings[LdaLayout.SETTING_KAPPA] = bad);
      refused(LdaProblem.ROUND, "base", c -> c.settings[LdaLayout.SETTING_BASE] = bad);
      refused(LdaProblem.ROUND, "share", c -> c.settings[LdaLayout.SETTING_SHARE] = bad);
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
  void fuzz() {
    Spoiling.fuzz(random -> {
      LdaProblem p = new LdaProblem(random, 1 + random.nextInt(12), random.nextInt(8), Partition.Values.SPARSE.get(random.nextInt(3)),
          1 + random.nextInt(20));
      p.concentration = random.nextBoolean();
      p.tau0 = random.nextInt(2) * 10.0;
      p.pruning = random.nextInt(2) * 0.01;
      p.overRelaxation = random.nextInt(2) * 0.7;
      LdaProblem.Native which = CALLS[random.nextInt(2)];
      Partition.Call call = Partition.copied(p.call(which));
      return new Spoiling.Attempt(call, () -> {
        try {
          LdaProblem.run(which, call);
          return NativeBridge.OK;
        } finally {
          Spoiling.free(p, call);
        }
      });
    });
    assertEquals(0, NativeBridge.stateEntries());
  }

  @Test
  void arraysThatChangeDuringACall() throws InterruptedException {
    LdaProblem p = new LdaProblem(new Random(17), 300, 50, Partition.Values.DOUBLES, 20);
    Spoiling.whileArraysChange(p, p.values64, 1000, i -> p.run(CALLS[i % 2]));
  }
}
