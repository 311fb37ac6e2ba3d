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

/** Wrong and hostile arguments: always an exception that names the argument, never a crash. */
class ArgumentsTest {

  /** The arguments of a call, to be spoiled one at a time. */
  private static final class Call {
    final Problem p;
    long[] control;
    double[] settings;
    int[] offsets;
    int[] rows;
    float[] values32;
    double[] values64;
    double[] mean;
    double[] variance;
    double[] deviation;
    double[] weights;
    byte[] shared;
    byte[] result;
    Cancellation cancellation = Cancellation.NEVER;

    Call(Problem p) {
      this.p = p;
      control = p.control(0);
      settings = p.settings();
      offsets = p.offsets.clone();
      rows = p.rows.clone();
      values32 = p.values32 == null ? null : p.values32.clone();
      values64 = p.values64 == null ? null : p.values64.clone();
      mean = p.mean.clone();
      variance = p.variance.clone();
      deviation = p.deviation.clone();
      weights = p.weights == null ? null : p.weights.clone();
      shared = Problem.bytes(p.residual);
      result = p.newResult();
    }

    int round() {
      return NativeBridge.primalRound(control, settings, offsets, rows, values32, values64, mean, variance, deviation,
          weights, shared, result, cancellation);
    }

    int product() {
      return NativeBridge.primalProduct(control, settings, offsets, rows, values32, values64, mean, variance, deviation,
          weights, result, cancellation);
    }
  }

  private static Problem problem(int seed) {
    return new Problem(new Random(seed), 30, 10, Problem.Values.DOUBLES, true, false);
  }

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** Round and product refuse what {@code spoil} did, with a message that has {@code part} in it. */
  private static void refused(String part, Consumer<Call> spoil) {
    Problem p = problem(8);
    Call call = new Call(p);
    spoil.accept(call);
    long entries = NativeBridge.stateEntries();
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::round, part);
    assertTrue(e.getMessage().contains(part), e.getMessage());
    if (call.shared != null && call.shared.length == 8 * p.m) {
      assertThrows(IllegalArgumentException.class, call::product, part);
    }
    assertEquals(entries, NativeBridge.stateEntries());
  }

  @Test
  void nulls() {
    refused("control", c -> c.control = null);
    refused("settings", c -> c.settings = null);
    refused("offsets", c -> c.offsets = null);
    refused("rows", c -> c.rows = null);
    refused("mean", c -> c.mean = null);
    refused("variance", c -> c.variance = null);
    refused("deviation", c -> c.deviation = null);
    refused("result", c -> c.result = null);
    refused("cancellation", c -> c.cancellation = null);
    refused("shared", c -> c.shared = null);
  }

  @Test
  void lengths() {
    refused("control", c -> c.control = Arrays.copyOf(c.control, 9));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 8));
    refused("offset", c -> c.offsets = new int[0]);
    refused("offset", c -> c.offsets = Arrays.copyOf(c.offsets, 5));
    refused("indices", c -> c.rows = Arrays.copyOf(c.rows, c.rows.length - 1));
    refused("values", c -> c.values64 = Arrays.copyOf(c.values64, 3));
    refused("values32", c -> c.values32 = new float[c.rows.length]);
    refused("mean", c -> c.mean = new double[9]);
    refused("variance", c -> c.variance = new double[11]);
    refused("deviation", c -> c.deviation = new double[0]);
    refused("weights", c -> c.weights = new double[29]);
    refused("shared", c -> c.shared = new byte[8 * 29]);
    refused("result", c -> c.result = new byte[8 * 30]);
  }

  @Test
  void numbersOfTheRequest() {
    for (long[] bad : new long[][] {{0, 2}, {2, -1}, {2, 1L << 31}, {3, -1}, {3, Long.MAX_VALUE}, {5, 0}, {5, -7},
        {6, 4}, {6, -1}, {7, 0}, {8, -1}, {8, 1L << 31}, {9, -1}}) {
      refused("control[" + bad[0] + "]", c -> c.control[(int) bad[0]] = bad[1]);
    }
    for (int slot = 0; slot < 7; slot++) {
      int s = slot;
      for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
        refused("", c -> c.settings[s] = bad);
      }
    }
    refused("l1", c -> c.settings[1] = -1);
    refused("total_weight", c -> c.settings[3] = 0);
    refused("sigma_prime", c -> c.settings[0] = 0);
  }

  @Test
  void structure() {
    refused("offsets", c -> c.offsets[0] = 1);
    refused("offsets", c -> c.offsets[3] = -5);
    refused("offsets", c -> c.offsets[3] = Integer.MAX_VALUE);
    refused("row", c -> c.rows[5] = 30);
    refused("row", c -> c.rows[5] = -1);
    refused("row", c -> Arrays.fill(c.rows, 0));
    refused("finite", c -> c.values64[4] = Double.NaN);
    refused("finite", c -> c.values64[4] = Double.NEGATIVE_INFINITY);
    refused("mean", c -> c.mean[1] = Double.NaN);
    refused("variance", c -> c.variance[1] = -1e-9);
    refused("deviation", c -> c.deviation[9] = Double.POSITIVE_INFINITY);
    refused("weight", c -> c.weights[2] = 0.0);
    refused("weight", c -> c.weights[2] = Double.NaN);
    refused("values", c -> {
      c.values32 = new float[] {1f};
      c.values64 = null;
    });
  }

  @Test
  void aResidualThatIsNotFinite() {
    Call call = new Call(problem(9));
    Arrays.fill(call.shared, 16, 24, (byte) 0xff);
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::round);
    assertTrue(e.getMessage().contains("row 2"), e.getMessage());
  }

  @Test
  void anOverflowIsAnException() {
    Problem p = problem(10);
    p.residual[0] = 1e308;
    p.l1 = 0.0;
    p.l2 = 0.0;
    p.budget = 100;
    assertThrows(IllegalArgumentException.class, () -> {
      for (long t = 0; t < 100; t++) {
        assertEquals(NativeBridge.OK, p.round(t, p.newResult()));
        p.theta1 = 1e300;
      }
    });
    p.free();
  }

  @Test
  void swappedArrays() {
    refused("", c -> {
      int[] offsets = c.offsets;
      c.offsets = c.rows;
      c.rows = offsets;
    });
    refused("", c -> {
      double[] mean = c.mean;
      c.mean = c.weights;
      c.weights = mean;
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
    Problem other = new Problem(new Random(12), 30, 9, Problem.Values.ONES, false, false);
    Call call = new Call(other);
    call.control[1] = p.fit;
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call::round);
    assertTrue(e.getMessage().contains("10 coefficients"), e.getMessage());
    p.free();
  }

  @Test
  void otherArraysOfTheSamePartitionAreValidatedAgain() {
    Problem p = problem(13);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    Call call = new Call(p);
    call.rows[0] = 99;
    assertThrows(IllegalArgumentException.class, call::round);
    p.free();
  }

  /** What validation cannot see, a change between two calls at a place that is not sampled, ends in a panic and an exception. */
  @Test
  void aPanicBecomesAnException() {
    Problem p = new Problem(new Random(14), 400, 4, Problem.Values.DOUBLES, false, true);
    assertTrue(p.rows.length > 300);
    assertEquals(NativeBridge.OK, p.round(0, p.newResult()));
    int row = p.rows[1];
    p.rows[1] = 1_000_000;
    NativeException e = assertThrows(NativeException.class, () -> p.round(1, p.newResult()));
    assertEquals(NativeException.PANIC, e.code());
    assertTrue(e.getMessage().contains("out of bounds") && e.getMessage().contains(".rs:"), e.getMessage());
    // Nothing stays pinned: a collection goes through, and the partition can be used again.
    System.gc();
    p.rows[1] = row;
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

  /** Thousands of calls with everything random: results and exceptions of the three families only. */
  @Test
  void fuzz() {
    Random random = new Random(16);
    int results = 0;
    int lost = 0;
    int refused = 0;
    for (int i = 0; i < 8000; i++) {
      Problem p = new Problem(random, random.nextInt(12), random.nextInt(8),
          Problem.Values.values()[random.nextInt(3)], random.nextBoolean(), random.nextBoolean());
      Call call = new Call(p);
      for (int spoiled = random.nextInt(4); spoiled > 0; spoiled--) {
        spoil(call, random);
      }
      long deadline = System.nanoTime() + 20_000_000;
      call.cancellation = () -> System.nanoTime() > deadline;
      try {
        int answer = random.nextBoolean() ? call.round() : call.product();
        if (answer == NativeBridge.OK) {
          results++;
        } else {
          lost++;
        }
      } catch (IllegalArgumentException | CancellationException e) {
        refused++;
      }
      NativeBridge.freeFit(call.control == null || call.control.length < 2 ? p.fit : call.control[1]);
    }
    assertTrue(results > 1000 && lost > 10 && refused > 1000, results + " " + lost + " " + refused);
    assertEquals(0, NativeBridge.stateEntries());
    System.gc();
  }

  private static void spoil(Call c, Random random) {
    switch (random.nextInt(16)) {
      case 0 -> spoilLong(c.control, random);
      case 1 -> c.control = random.nextBoolean() ? null : random.longs(random.nextInt(12)).toArray();
      case 2 -> spoilDouble(c.settings, random);
      case 3 -> c.settings = random.nextBoolean() ? null : random.doubles(random.nextInt(9)).toArray();
      case 4 -> spoilInt(c.offsets, random);
      case 5 -> c.offsets = random.nextBoolean() ? null : random.ints(random.nextInt(10)).toArray();
      case 6 -> spoilInt(c.rows, random);
      case 7 -> c.rows = random.ints(random.nextInt(10), -2, 12).toArray();
      case 8 -> spoilDouble(c.values64, random);
      case 9 -> c.values64 = random.doubles(random.nextInt(9)).toArray();
      case 10 -> c.values32 = new float[random.nextInt(9)];
      case 11 -> spoilDouble(random.nextBoolean() ? c.mean : c.variance, random);
      case 12 -> c.mean = random.doubles(random.nextInt(9)).toArray();
      case 13 -> spoilDouble(c.weights, random);
      case 14 -> {
        c.shared = new byte[8 * random.nextInt(13)];
        random.nextBytes(c.shared);
      }
      default -> c.result = new byte[random.nextInt(300)];
    }
  }

  private static void spoilLong(long[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(4)) {
        case 0 -> random.nextInt(4) - 1;
        case 1 -> Long.MAX_VALUE - random.nextInt(2);
        case 2 -> Long.MIN_VALUE;
        default -> random.nextLong();
      };
    }
  }

  private static void spoilInt(int[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(4)) {
        case 0 -> random.nextInt(14) - 2;
        case 1 -> Integer.MAX_VALUE;
        case 2 -> Integer.MIN_VALUE;
        default -> random.nextInt();
      };
    }
  }

  private static void spoilDouble(double[] a, Random random) {
    if (a != null && a.length > 0) {
      a[random.nextInt(a.length)] = switch (random.nextInt(5)) {
        case 0 -> Double.NaN;
        case 1 -> Double.NEGATIVE_INFINITY;
        case 2 -> 1e308 * random.nextDouble();
        case 3 -> -random.nextDouble();
        default -> Double.longBitsToDouble(random.nextLong());
      };
    }
  }

  /** Java threads that change the arrays of running calls break numbers, not the JVM. */
  @Test
  void arraysThatChangeDuringACall() throws InterruptedException {
    Problem p = new Problem(new Random(17), 300, 50, Problem.Values.DOUBLES, false, true);
    AtomicBoolean done = new AtomicBoolean();
    int[] rows = p.rows.clone();
    int[] offsets = p.offsets.clone();
    Thread vandal = new Thread(() -> {
      Random random = new Random(18);
      while (!done.get()) {
        p.rows[random.nextInt(rows.length)] = random.nextInt();
        p.offsets[random.nextInt(offsets.length)] = random.nextInt();
        System.arraycopy(rows, 0, p.rows, 0, rows.length);
        System.arraycopy(offsets, 0, p.offsets, 0, offsets.length);
      }
    });
    vandal.start();
    try {
      for (int i = 0; i < 2000; i++) {
        try {
          p.round(0, p.newResult());
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
