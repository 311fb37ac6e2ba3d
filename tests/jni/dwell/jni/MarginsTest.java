package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Margins of a slice of rows: a case by hand, and wrong arguments, each an exception that names the argument. */
class MarginsTest {
  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  /** A call, with the squared loss on three rows. */
  private static final class Call {
    long[] control = {NativeBridge.MARGIN_LAYOUT_VERSION, MarginLayout.LOSSES, 0, 1};
    double[] settings = {0, 0.5, 2, -1};
    double[] margins = {1, 2, 3};
    double[] direction = {1, 1, 2};
    double[] update = {0, 1, 2};
    double[] losses = new double[3];
    double[] residuals = new double[3];
    double[] labels = {1, 2, 5};
    double[] weights = {1, 2, 4};
    double[] sums = new double[MarginLayout.SUMS];

    Call run(long operation) {
      control[MarginLayout.CONTROL_OPERATION] = operation;
      return run();
    }

    Call run() {
      NativeBridge.margins(control, settings, margins, direction, update, losses, residuals, labels, weights, sums);
      return this;
    }
  }

  @Test
  void byHand() {
    // Errors z - y: 0.5, 0.5, -1.5.
    Call call = new Call().run(MarginLayout.LOSSES);
    assertArrayEquals(new double[] {0.125, 0.125, 1.125}, call.losses);
    assertArrayEquals(new double[] {4.875, 9.75, 0.5 + 2 - 30, 0, 0, 0}, call.sums);
    call.run(MarginLayout.SLOPES);
    assertArrayEquals(new double[] {0.5 + 1 - 6, 7.5, 7, 0, 0, 0}, call.sums);
    // Steps 2 u - d: -1, 1, 2; errors after them: -0.5, 1.5, 0.5.
    call.run(MarginLayout.ALONG);
    assertArrayEquals(new double[] {2 - 4, 3 + 4, -0.5 + 3 + 4, 2 + 16, 2 + 16, 1 + 2 + 16}, call.sums);
    call.run(MarginLayout.RESIDUALS);
    assertArrayEquals(new double[] {-0.5, -0.5, 1.5}, call.residuals);
    call.run(MarginLayout.MOVE);
    assertArrayEquals(new double[] {-1, 1, 2}, call.direction);
    assertArrayEquals(new double[] {0, 3, 5}, call.margins);
    assertArrayEquals(new double[] {0, 0, 0, 0, 0, 0}, call.sums);
  }

  private static void refused(String part, Consumer<Call> spoil) {
    Call call = new Call();
    spoil.accept(call);
    Spoiling.refused(part, call::run);
  }

  @Test
  void wrongArguments() {
    refused("control", c -> c.control = null);
    refused("control", c -> c.control = new long[5]);
    refused("layout version", c -> c.control[MarginLayout.CONTROL_VERSION] = 9);
    refused("the operation", c -> c.control[MarginLayout.CONTROL_OPERATION] = 6);
    refused("loss", c -> c.control[MarginLayout.CONTROL_LOSS] = 9);
    refused("smooth", c -> c.control[MarginLayout.CONTROL_LOSS] = 2);
    refused("the threads", c -> c.control[MarginLayout.CONTROL_THREADS] = 0);
    refused("settings", c -> c.settings = new double[5]);
    refused("intercept", c -> c.settings[MarginLayout.SETTING_INTERCEPT] = Double.NaN);
    refused("margins is null", c -> c.margins = null);
    refused("direction has length 2", c -> c.direction = new double[2]);
    refused("update is null", c -> c.update = null);
    refused("losses has length 4", c -> c.losses = new double[4]);
    refused("residuals has length 0", c -> c.residuals = new double[0]);
    refused("labels has length 4", c -> c.labels = new double[4]);
    refused("weights has length 1", c -> c.weights = new double[1]);
    refused("sums", c -> c.sums = new double[5]);
    refused("given twice", c -> c.residuals = c.losses);
    refused("given twice", c -> c.direction = c.update);
  }

  @Test
  void aSliceWithoutRows() {
    Call call = new Call();
    call.margins = call.direction = call.update = call.losses = call.residuals = call.labels = new double[0];
    assertThrows(IllegalArgumentException.class, call::run);
    call.margins = new double[0];
    call.direction = new double[0];
    call.update = new double[0];
    call.losses = new double[0];
    call.residuals = new double[0];
    call.weights = null;
    call.run();
    assertEquals(0.0, call.sums[MarginLayout.LOSS]);
  }
}
