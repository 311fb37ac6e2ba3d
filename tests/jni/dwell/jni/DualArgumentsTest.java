package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The arguments of dual calls. */
class DualArgumentsTest extends ArgumentsTest {
  @Override
  Problem problem(Random random, int m, int n, Problem.Values values) {
    return new DualProblem(random, m, n, values, true, true, true, DualProblem.SMOOTHED_HINGE);
  }

  @Override
  Problem anyProblem(Random random) {
    return new DualProblem(random, random.nextInt(12), random.nextInt(8), Problem.Values.any(random),
        random.nextBoolean(), random.nextBoolean(), random.nextBoolean(), random.nextInt(5));
  }

  @Test
  void numbersOfADualRequest() {
    refused("control[6]", c -> c.control[CdLayout.CONTROL_FLAGS] = NativeBridge.CENTRED);
    refused("l2", c -> c.settings[CdLayout.DUAL_L2] = 0);
    refused("total_weight", c -> c.settings[CdLayout.DUAL_TOTAL_WEIGHT] = 0);
    refused("gamma", c -> c.settings[CdLayout.DUAL_GAMMA] = 0);
    refused("intercept", c -> c.settings[CdLayout.DUAL_INTERCEPT] = -1);
    refused("offset", c -> c.settings[CdLayout.DUAL_OFFSET] = Double.NaN);
    refused("settings[6]", c -> c.settings[CdLayout.DUAL_PENDING_FACTOR] = Double.NaN);
    refused("settings[7]", c -> c.settings[CdLayout.DUAL_PREVIOUS_FACTOR] = Double.NaN);
    for (double bad : new double[] {-1, 0.5, 4, 17, 1e300}) {
      refused("settings[8]", c -> c.settings[CdLayout.DUAL_CANDIDATE_COUNT] = bad);
    }
    refused("candidates[1]", c -> c.settings[CdLayout.DUAL_CANDIDATES + 1] = Double.NaN);
    refused("settings[8]", c -> c.settings = java.util.Arrays.copyOf(c.settings, 11));
    // The flag of the certificate asks for candidates.
    refused("settings[8]", c -> {
      c.settings = java.util.Arrays.copyOf(c.settings, 9);
      c.settings[CdLayout.DUAL_CANDIDATE_COUNT] = 0;
    });
    refused("candidates", c -> {
      c.settings = java.util.Arrays.copyOf(c.settings, 26);
      c.settings[CdLayout.DUAL_CANDIDATE_COUNT] = 17;
    });
  }

  @Test
  void rows() {
    refused("labels[0] is null", c -> c.fields.put("labels", null));
    refused("weight of row 2", c -> c.field("weights")[2] = 0.0);
    refused("weight of row 9", c -> c.field("weights")[9] = -1.0);
    refused("scale of feature 4", c -> c.field("scale")[4] = -1e-9);
    refused("label", c -> {
      double[] labels = c.field("labels");
      c.fields.put("labels", c.field("scale"));
      c.fields.put("scale", labels);
    });
  }

  /** Arguments that are wrong only together. */
  @Test
  void whatDoesNotGoTogether() {
    Problem p = problem(8);
    Problem.Call label = p.copiedCall(0);
    label.field("labels")[4] = 0.0;
    assertEquals("label of row 4 is 0: labels of a classification must be -1 or 1",
        assertThrows(IllegalArgumentException.class, () -> p.round(label)).getMessage());
    Problem.Call mean = p.copiedCall(0);
    mean.fields.put("mean", null);
    assertThrows(IllegalArgumentException.class, () -> p.round(mean));
    assertEquals(0, NativeBridge.stateEntries());
  }

  @Test
  void anOverflowIsAnException() {
    Problem p = new DualProblem(new Random(10), 30, 10, Problem.Values.DOUBLES, true, true, true, DualProblem.SQUARED);
    p.shared[0] = 1e308;
    p.budget = 100;
    assertThrows(IllegalArgumentException.class, () -> {
      for (long t = 0; t < 100; t++) {
        assertEquals(NativeBridge.OK, p.round(t, p.newResult()));
        p.theta1 = 1e300;
      }
    });
    p.free();
  }
}
