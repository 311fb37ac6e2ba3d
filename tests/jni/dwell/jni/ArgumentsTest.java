package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Wrong and hostile arguments of either orientation. Each is an exception that names the argument, never a crash. */
abstract class ArgumentsTest {

  /** A problem of n coordinates, m numbers each, with all arrays that these values have, none of them empty. */
  abstract Problem problem(Random random, int m, int n, Problem.Values values);

  Problem problem(Random random, int m, int n) {
    return problem(random, m, n, Problem.Values.DOUBLES);
  }

  /** A problem with a random shape. */
  abstract Problem anyProblem(Random random);

  Problem problem(int seed) {
    return problem(new Random(seed), 30, 10);
  }

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** Round and product refuse a call that {@code spoil} has spoiled, with a message that has {@code part} in it. */
  void refused(String part, Consumer<Problem.Call> spoil) {
    refused(problem(8), part, spoil);
  }

  private static void refused(Problem p, String part, Consumer<Problem.Call> spoil) {
    Problem.Call call = p.copiedCall(0);
    spoil.accept(call);
    long entries = NativeBridge.stateEntries();
    Spoiling.refused(part, () -> p.round(call));
    if (call.shared != null && call.shared.length == 8 * p.m) {
      assertThrows(IllegalArgumentException.class, () -> p.product(call), part);
    }
    assertEquals(entries, NativeBridge.stateEntries());
  }

  @Test
  void nulls() {
    refused("control", c -> c.control = null);
    refused("settings", c -> c.settings = null);
    refused("offsets", c -> c.offsets = null);
    refused("without indices each of 10 columns has 30 entries", c -> c.indices = null);
    refused("result", c -> c.result = null);
    refused("cancellation", c -> c.cancellation = null);
    refused("shared", c -> c.shared = null);
  }

  @Test
  void lengths() {
    refused("control", c -> c.control = Arrays.copyOf(c.control, 10));
    refused("control", c -> c.control = Arrays.copyOf(c.control, 12));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 6));
    refused("points", c -> c.settings = Arrays.copyOf(c.settings, c.settings.length + 1));
    refused("points", c -> c.settings = Arrays.copyOf(c.settings, c.settings.length + 50));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 100));
    refused("offset", c -> c.offsets = new int[0]);
    refused("offset", c -> c.offsets = Arrays.copyOf(c.offsets, 5));
    refused("indices", c -> c.indices = Arrays.copyOf(c.indices, c.indices.length - 1));
    refused("values", c -> c.values64 = Arrays.copyOf(c.values64, 3));
    refused("values32", c -> c.values32 = new float[c.indices.length]);
    refused("shared", c -> c.shared = new byte[8 * 29]);
    refused("result", c -> c.result = new byte[8 * 30]);
  }

  @Test
  void fieldsOfAnotherLengthOrNotFinite() {
    for (String name : problem(8).fields.keySet()) {
      int length = problem(8).fields.get(name).length;
      for (int other : new int[] {0, 9, length - 1, length + 1}) {
        refused(name, c -> c.fields.put(name, new double[other]));
      }
      String one = name.endsWith("s") ? name.substring(0, name.length() - 1) : name;
      for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
        refused(one, c -> c.field(name)[1] = bad);
        refused("1", c -> c.field(name)[1] = bad);
      }
    }
  }

  /** Round and product refuse each of these numbers in a slot of control. */
  private void bad(int slot, long... numbers) {
    for (long number : numbers) {
      refused("control[" + slot + "]", c -> c.control[slot] = number);
    }
  }

  @Test
  void numbersOfTheRequest() {
    bad(CdLayout.CONTROL_VERSION, 2, 4);
    bad(CdLayout.CONTROL_PARTITION, -1, 1L << 31);
    bad(CdLayout.CONTROL_ROUND, -1, Long.MAX_VALUE);
    bad(CdLayout.CONTROL_BUDGET, 0, -7);
    bad(CdLayout.CONTROL_FLAGS, 8, -1);
    bad(CdLayout.CONTROL_THREADS, 0);
    bad(CdLayout.CONTROL_VECTOR_LENGTH, -1, 1L << 31);
    bad(CdLayout.CONTROL_STAMP, -1);
    refused("threads", c -> c.control[CdLayout.CONTROL_THREADS] = Integer.MAX_VALUE);
    refused("loss", c -> c.control[CdLayout.CONTROL_LOSS] = 5);
    refused("loss", c -> c.control[CdLayout.CONTROL_LOSS] = -1);
    refused("sigma_prime", c -> c.settings[CdLayout.PRIMAL_SIGMA_PRIME] = 0);
  }

  @Test
  void noSettingIsNaNOrInfinite() {
    int count = problem(8).settings().length;
    for (int slot = 0; slot < count + 4; slot++) {
      int s = slot;
      for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
        refused("", c -> {
          // With two points.
          c.settings = Arrays.copyOf(c.settings, count + 4);
          c.settings[s] = bad;
        });
      }
    }
  }

  @Test
  void structure() {
    // Few entries: the fingerprint of a block that was checked before samples all of them.
    BiConsumer<String, Consumer<Problem.Call>> refused = (part, spoil) -> refused(problem(new Random(8), 30, 5), part, spoil);
    refused.accept("offsets", c -> c.offsets[0] = 1);
    refused.accept("offsets", c -> c.offsets[3] = -5);
    refused.accept("offsets", c -> c.offsets[3] = Integer.MAX_VALUE);
    refused.accept("30", c -> c.indices[5] = 30);
    refused.accept("-1", c -> c.indices[5] = -1);
    refused.accept("increase", c -> Arrays.fill(c.indices, 0));
    refused.accept("finite", c -> c.values64[4] = Double.NaN);
    refused.accept("finite", c -> c.values64[4] = Double.NEGATIVE_INFINITY);
    refused.accept("values", c -> {
      c.values32 = new float[] {1f};
      c.values64 = null;
    });
  }

  @Test
  void aSharedVectorThatIsNotFinite() {
    Problem p = problem(9);
    Problem.Call call = p.copiedCall(0);
    Arrays.fill(call.shared, 16, 24, (byte) 0xff);
    Spoiling.refused(" 2 is NaN", () -> p.round(call));
  }

  @Test
  void denseMatrices() {
    BiConsumer<String, Consumer<Problem.Call>> refused =
        (part, spoil) -> refused(problem(new Random(8), 30, 10, Problem.Values.DENSE_DOUBLES), part, spoil);
    refused.accept("there are 299 values, expected 300", c -> c.values64 = Arrays.copyOf(c.values64, 299));
    refused.accept("neither indices nor values", c -> c.values64 = null);
    refused.accept("column 9, row 29", c -> c.values64[299] = Double.NaN);
  }

  @Test
  void swappedArrays() {
    refused("", c -> {
      int[] offsets = c.offsets;
      c.offsets = c.indices;
      c.indices = offsets;
    });
    refused("", c -> {
      byte[] shared = c.shared;
      c.shared = c.result;
      c.result = shared;
    });
  }

  @Test
  void aStateOfAnotherSize() {
    Problem p = problem(11);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    Problem other = problem(new Random(12), 30, 9);
    Problem.Call call = other.call(0);
    call.control[CdLayout.CONTROL_FIT] = p.fit;
    Spoiling.refused("has 10 coordinates", () -> other.round(call));
    p.free();
  }

  @Test
  void otherArraysOfTheSamePartitionAreValidatedAgain() {
    Problem p = problem(13);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    Problem.Call call = p.copiedCall(0);
    call.indices[0] = 99;
    assertThrows(IllegalArgumentException.class, () -> p.round(call));
    p.free();
  }

  /** A change between two calls at a place that the fingerprint does not sample: native code panics, and the panic becomes an exception. */
  @Test
  void aPanicBecomesAnException() {
    Problem p = problem(new Random(14), 400, 4);
    assertTrue(p.indices.length > 300);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    int row = p.indices[1];
    p.indices[1] = 1_000_000;
    NativeException e = assertThrows(NativeException.class, () -> p.round(1, p.newResult()));
    assertEquals(NativeException.PANIC, e.code());
    assertTrue(e.getMessage().contains("out of bounds") && e.getMessage().contains(".rs:"), e.getMessage());
    // Nothing stays pinned: a collection goes through, and the partition can be used again.
    System.gc();
    p.indices[1] = row;
    assertEquals(NativeBridge.OK, p.round(1, p.newResult()));
    p.free();
  }

  @Test
  void functionsOfStates() {
    assertThrows(IllegalArgumentException.class, () -> NativeBridge.expire(-1));
    assertThrows(IllegalArgumentException.class, () -> NativeBridge.importState(1, 1, null, null, null));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.importState(1, 1, new long[2], new double[1], new double[1]));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.importState(1, 1, new long[3], new double[1], new double[2]));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.importState(1, 1, new long[3], new double[] {Double.NaN}, new double[1]));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.importState(1, 1, new long[] {0, -1, 0}, new double[1], new double[1]));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.importState(1, -1, new long[3], new double[1], new double[1]));
    Problem p = problem(15);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    assertThrows(IllegalArgumentException.class, () -> NativeBridge.exportState(p.fit, p.partition, new long[4],
        new double[10], new double[10], new double[10]));
    assertThrows(IllegalArgumentException.class, () -> NativeBridge.exportState(p.fit, p.partition, new long[5],
        new double[10], new double[9], new double[10]));
    assertThrows(IllegalArgumentException.class,
        () -> NativeBridge.exportState(p.fit, p.partition, new long[5], null, new double[10], new double[10]));
    assertEquals(-1, NativeBridge.stateSize(p.fit, -1));
    p.free();
  }

  @Test
  void fuzz() {
    int[] counts = Spoiling.fuzz(random -> {
      Problem p = anyProblem(random);
      Problem.Call call = p.copiedCall(0);
      return new Spoiling.Attempt(call, () -> {
        try {
          return random.nextBoolean() ? p.round(call) : p.product(call);
        } finally {
          Spoiling.free(p, call);
        }
      });
    });
    assertTrue(counts[1] > 10, counts[1] + " states were lost");
    assertEquals(0, NativeBridge.stateEntries());
  }

  @Test
  void arraysThatChangeDuringACall() throws InterruptedException {
    Problem p = problem(new Random(17), 300, 50);
    Spoiling.whileArraysChange(p, p.values64, 2000, i -> p.round(0, p.newResult()));
  }
}
