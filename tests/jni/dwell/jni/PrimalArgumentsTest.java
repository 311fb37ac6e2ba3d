package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The arguments of primal calls. */
class PrimalArgumentsTest extends ArgumentsTest {
  @Override
  Problem problem(Random random, int m, int n, Problem.Values values) {
    return new PrimalProblem(random, m, n, values, true, false);
  }

  @Override
  Problem anyProblem(Random random) {
    return new PrimalProblem(random, random.nextInt(12), random.nextInt(8), Problem.Values.any(random),
        random.nextBoolean(), random.nextBoolean());
  }

  @Test
  void numbersOfAPrimalRequest() {
    refused("control[6]", c -> c.control[CdLayout.CONTROL_FLAGS] = NativeBridge.CLASSES);
    refused("control[10]", c -> c.control[CdLayout.CONTROL_LOSS] = 1);
    refused("l1", c -> c.settings[CdLayout.PRIMAL_L1] = -1);
    refused("l2", c -> c.settings[CdLayout.PRIMAL_L2] = -1);
    refused("total_weight", c -> c.settings[CdLayout.PRIMAL_TOTAL_WEIGHT] = 0);
    refused("settings[5]", c -> c.settings[CdLayout.PRIMAL_PENDING_FACTOR] = Double.NaN);
    refused("settings[6]", c -> c.settings[CdLayout.PRIMAL_PREVIOUS_FACTOR] = Double.NaN);
  }

  @Test
  void columns() {
    refused("mean[0] is null", c -> c.fields.put("mean", null));
    refused("variance[0] is null", c -> c.fields.put("variance", null));
    refused("deviation[0] is null", c -> c.fields.put("deviation", null));
    refused("variance", c -> c.field("variance")[1] = -1e-9);
    refused("weight of row 2", c -> c.field("weights")[2] = 0.0);
    refused("", c -> {
      double[] mean = c.field("mean");
      c.fields.put("mean", c.field("weights"));
      c.fields.put("weights", mean);
    });
  }

  @Test
  void anOverflowIsAnException() {
    PrimalProblem p = (PrimalProblem) problem(10);
    p.shared[0] = 1e308;
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
}
