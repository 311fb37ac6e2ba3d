package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Wrong and hostile arguments of model averaging. Each is an exception that names the argument, never a crash. */
class SgdArgumentsTest {
  private static final SgdProblem.Native[] CALLS = {SgdProblem.DESCEND, SgdProblem.SEARCH};

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  private static SgdProblem problem(int loss) {
    return problem(loss, 10);
  }

  private static SgdProblem problem(int loss, int rows) {
    return new SgdProblem(new Random(8), 30, rows, Partition.Values.DOUBLES, true, true, loss);
  }

  /** A call on this problem is refused when {@code spoil} has spoiled it, with a message that has {@code part} in it. */
  private static void refused(SgdProblem p, SgdProblem.Native which, String part, Consumer<Partition.Call> spoil) {
    Partition.Call call = Partition.copied(p.call(which));
    spoil.accept(call);
    Spoiling.refused(part, () -> SgdProblem.run(which, call));
  }

  /** Both calls are refused. */
  private static void refused(String part, Consumer<Partition.Call> spoil) {
    for (SgdProblem.Native which : CALLS) {
      refused(problem(DualProblem.SMOOTHED_HINGE), which, part, spoil);
    }
  }

  @Test
  void nulls() {
    refused("control", c -> c.control = null);
    refused("settings", c -> c.settings = null);
    refused("offsets", c -> c.offsets = null);
    refused("without indices each of 10 columns has 30 entries", c -> c.indices = null);
    refused("labels[0] is null", c -> c.fields.put("labels", null));
    refused("result", c -> c.result = null);
    refused("cancellation", c -> c.cancellation = null);
    refused("shared", c -> c.shared = null);
  }

  @Test
  void lengths() {
    refused("control", c -> c.control = Arrays.copyOf(c.control, 11));
    refused("control", c -> c.control = Arrays.copyOf(c.control, 13));
    refused("settings", c -> c.settings = Arrays.copyOf(c.settings, 6));
    refused("", c -> c.settings = Arrays.copyOf(c.settings, 40));
    refused("offset", c -> c.offsets = new int[0]);
    refused("offsets[0] has length 5", c -> c.offsets = Arrays.copyOf(c.offsets, 5));
    refused("indices", c -> c.indices = Arrays.copyOf(c.indices, c.indices.length - 1));
    refused("values", c -> c.values64 = Arrays.copyOf(c.values64, 3));
    refused("values32", c -> c.values32 = new float[c.indices.length]);
    refused("shared", c -> c.shared = new byte[8 * 30]);
    refused("result", c -> c.result = new byte[8 * 31]);
    for (String name : new String[] {"labels", "weights", "scale"}) {
      for (int other : new int[] {0, 9, 11, 29, 31}) {
        refused(name, c -> c.fields.put(name, new double[other]));
      }
    }
  }

  /** The result of a search can be as long as a model, and so the same array. */
  @Test
  void theResultIsNotTheSharedModel() {
    SgdProblem p = new SgdProblem(new Random(9), 63, 5, Partition.Values.ONES, false, false, DualProblem.HINGE);
    assertEquals(ResultHeader.BYTES, 8 * p.shared.length);
    refused(p, SgdProblem.SEARCH, "result is the array of shared", c -> c.result = c.shared);
  }

  /** Both calls refuse each of these numbers in a slot of control. */
  private static void bad(int slot, long... numbers) {
    for (long number : numbers) {
      refused("control[" + slot + "]", c -> c.control[slot] = number);
    }
  }

  @Test
  void numbersOfTheRequest() {
    bad(SgdLayout.CONTROL_VERSION, 4, 6);
    bad(SgdLayout.CONTROL_PARTITION, -1, 1L << 31);
    bad(SgdLayout.CONTROL_FEATURES, -1, 1L << 31);
    bad(SgdLayout.CONTROL_OUTPUTS, 0, 1L << 31);
    bad(SgdLayout.CONTROL_FLAGS, 4, -1);
    bad(SgdLayout.CONTROL_BUDGET, -1);
    bad(SgdLayout.CONTROL_CURSOR, -1);
    bad(SgdLayout.CONTROL_STEPS, -1);
    bad(SgdLayout.CONTROL_THREADS, 0);
    refused("byte[]", c -> c.control[SgdLayout.CONTROL_FEATURES] = Integer.MAX_VALUE);
    refused("shared", c -> c.control[SgdLayout.CONTROL_FEATURES] = 29);
    refused("loss", c -> c.control[SgdLayout.CONTROL_LOSS] = 6);
    refused("loss", c -> c.control[SgdLayout.CONTROL_LOSS] = -1);
    refused("outputs", c -> c.control[SgdLayout.CONTROL_LOSS] = SgdProblem.SOFTMAX);
    refused("outputs", c -> c.control[SgdLayout.CONTROL_OUTPUTS] = 2);
    refused("schedule", c -> c.control[SgdLayout.CONTROL_SCHEDULE] = 2);
    refused("gamma", c -> c.settings[SgdLayout.SETTING_GAMMA] = 0.0);
    for (double bad : new double[] {-1.0, Double.NaN, Double.POSITIVE_INFINITY}) {
      refused("l1", c -> c.settings[SgdLayout.SETTING_L1] = bad);
      refused("l2", c -> c.settings[SgdLayout.SETTING_L2] = bad);
      refused("weight_factor", c -> c.settings[SgdLayout.SETTING_WEIGHT_FACTOR] = bad);
      refused(problem(0), SgdProblem.DESCEND, "eta0", c -> c.settings[SgdLayout.SETTING_ETA0] = bad);
      refused(problem(0), SgdProblem.DESCEND, "rate", c -> c.settings[SgdLayout.SETTING_RATE] = bad);
      refused(problem(0), SgdProblem.SEARCH, "rate", c -> c.settings[SgdLayout.SETTING_RATE] = bad);
      refused(problem(0), SgdProblem.DESCEND, "share", c -> c.settings[SgdLayout.SETTING_SHARE] = bad);
      refused(problem(0), SgdProblem.SEARCH, "candidate", c -> c.settings[SgdLayout.SETTING_CANDIDATES + 1] = bad);
    }
    refused(problem(0), SgdProblem.DESCEND, "budget", c -> c.control[SgdLayout.CONTROL_BUDGET] = 0);
    refused(problem(0), SgdProblem.DESCEND, "threads", c -> c.control[SgdLayout.CONTROL_THREADS] = 257);
    refused(problem(0), SgdProblem.SEARCH, "budget", c -> c.control[SgdLayout.CONTROL_BUDGET] = 0);
    refused(problem(0), SgdProblem.SEARCH, "candidates", c -> c.settings = Arrays.copyOf(c.settings, 7));
    // eta0 of 1 / l2 and more.
    refused(problem(0), SgdProblem.DESCEND, "eta0", c -> c.settings[SgdLayout.SETTING_L2] = 10.0);
    refused(problem(0), SgdProblem.SEARCH, "candidate", c -> c.settings[SgdLayout.SETTING_L2] = 10.0);
  }

  @Test
  void structure() {
    for (SgdProblem.Native which : CALLS) {
      // Few entries: the fingerprint of a block that was checked before samples all of them.
      BiConsumer<String, Consumer<Partition.Call>> refused =
          (part, spoil) -> refused(problem(DualProblem.SMOOTHED_HINGE, 5), which, part, spoil);
      refused.accept("offsets", c -> c.offsets[0] = 1);
      refused.accept("offsets", c -> c.offsets[3] = -5);
      refused.accept("offsets", c -> c.offsets[3] = Integer.MAX_VALUE);
      refused.accept("30", c -> c.indices[5] = 30);
      refused.accept("-1", c -> c.indices[5] = -1);
      refused.accept("increase", c -> Arrays.fill(c.indices, 0));
      refused.accept("finite", c -> c.values64[4] = Double.NaN);
      refused.accept("label of row 3", c -> c.field("labels")[3] = Double.NaN);
      refused.accept("label of row 4 is 0.5", c -> c.field("labels")[4] = 0.5);
      refused.accept("weight of row 2", c -> c.field("weights")[2] = 0.0);
      refused.accept("scale of feature 20", c -> c.field("scale")[20] = -1.0);
      refused.accept("number 2 of the shared model is NaN", c -> Arrays.fill(c.shared, 16, 24, (byte) 0xff));
    }
    refused(problem(SgdProblem.SOFTMAX), SgdProblem.DESCEND, "classes are 0 to 2", c -> c.field("labels")[4] = 3.0);
  }

  @Test
  void denseMatrices() {
    for (SgdProblem.Native which : CALLS) {
      BiConsumer<String, Consumer<Partition.Call>> refused = (part, spoil) -> refused(
          new SgdProblem(new Random(8), 30, 10, Partition.Values.DENSE_DOUBLES, true, true, 0), which, part, spoil);
      refused.accept("there are 299 values, expected 300", c -> c.values64 = Arrays.copyOf(c.values64, 299));
      refused.accept("neither indices nor values", c -> c.values64 = null);
      refused.accept("column 9, row 29", c -> c.values64[299] = Double.NaN);
    }
  }

  @Test
  void fuzz() {
    Spoiling.fuzz(random -> {
      SgdProblem p = new SgdProblem(random, random.nextInt(12), random.nextInt(8), Partition.Values.any(random),
          random.nextBoolean(), random.nextBoolean(), random.nextInt(6));
      p.l1 = random.nextInt(2) * 0.1;
      SgdProblem.Native which = CALLS[random.nextInt(CALLS.length)];
      Partition.Call call = Partition.copied(p.call(which));
      return new Spoiling.Attempt(call, () -> {
        SgdProblem.run(which, call);
        return NativeBridge.OK;
      });
    });
  }

  @Test
  void arraysThatChangeDuringACall() throws InterruptedException {
    SgdProblem p = new SgdProblem(new Random(17), 300, 50, Partition.Values.DOUBLES, false, true, SgdProblem.SOFTMAX);
    p.l1 = 0.01;
    Spoiling.whileArraysChange(p, p.labels, 2000, i -> p.run(CALLS[i % CALLS.length]));
  }
}
