package dwell.jni;

import static dwell.jni.Partition.bytes;
import static dwell.jni.Partition.vector;
import static dwell.jni.Spoiling.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pass of a network: a case by hand, and wrong arguments, each an exception that names the argument. */
class NetworkTest {
  private static final int[] LAYERS = {1, 1, 2};

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(0, NativeBridge.stateEntries());
  }

  /** A hidden unit that is 1/2 for every row, with the weights 1 and -1 of the classes. */
  private static long begin() {
    return NativeBridge.networkBegin(LAYERS, bytes(0, 0, 1, -1, 0, 0));
  }

  private static void dense(long pass) {
    NativeBridge.passBlock(pass, null, null, null, new double[] {3}, new double[] {0}, null);
  }

  private static void sparse(long pass) {
    NativeBridge.passBlock(pass, new int[] {0, 1}, new int[] {0}, new float[] {-2}, null, new double[] {1}, null);
  }

  private static byte[] end(long pass) {
    byte[] result = new byte[ResultHeader.length(6)];
    NativeBridge.passEnd(pass, 0, result);
    return result;
  }

  @Test
  void byHand() {
    long pass = begin();
    dense(pass);
    sparse(pass);
    byte[] result = end(pass);
    // The probabilities of the classes are t and s.
    double s = 1 / (1 + Math.E);
    double t = 1 - s;
    assertEquals(-Math.log(t) - Math.log(s), ResultHeader.get(result, PassLayout.LOSS_SUM), 1e-14);
    assertEquals(2, ResultHeader.get(result, PassLayout.ROWS));
    assertEquals(2, ResultHeader.get(result, ResultHeader.NONZEROS));
    assertArrayEquals(
        new double[] {3 * (-s / 2) - 2 * (t / 2), (t - s) / 2, (t - s) / 2, (s - t) / 2, t - s, s - t}, vector(result), 1e-14);
  }

  @Test
  void lanes() {
    long first = begin();
    long second = NativeBridge.passFork(first);
    dense(first);
    sparse(second);
    NativeBridge.passJoin(first, second);
    long whole = begin();
    dense(whole);
    sparse(whole);
    assertArrayEquals(vector(end(whole)), vector(end(first)), 1e-15);
  }

  @Test
  void wrongArguments() {
    refused("layers", () -> NativeBridge.networkBegin(null, bytes(0, 0)));
    refused("layers", () -> NativeBridge.networkBegin(new int[] {3}, bytes(0, 0)));
    refused("size of a layer", () -> NativeBridge.networkBegin(new int[] {3, -1, 2}, bytes(0, 0)));
    refused("layers", () -> NativeBridge.networkBegin(new int[NetworkLayout.MAX_LAYERS + 1], bytes(0, 0)));
    refused("too many", () -> NativeBridge.networkBegin(huge(), bytes(0, 0)));
    refused("weights", () -> NativeBridge.networkBegin(LAYERS, null));
    refused("weights", () -> NativeBridge.networkBegin(LAYERS, new byte[47]));
    refused("weights", () -> NativeBridge.networkBegin(LAYERS, bytes(0, 0, 1, -1, 0)));
    refused("2 classes",
        () -> NativeBridge.passBlock(begin(), null, null, null, new double[] {3}, new double[] {2}, null));
    refused("values64",
        () -> NativeBridge.passBlock(begin(), null, null, null, new double[] {3, 4}, new double[] {1}, null));
    long pass = begin();
    long linear = NativeBridge.passBegin(PassLayout.control(0, 1, 0, 0.0, 1), new double[0], bytes(0), new double[0],
        new double[0], new double[0], new double[0], new double[0], new double[0]);
    refused("two kinds", () -> NativeBridge.passJoin(pass, linear));
    long last = begin();
    refused("result", () -> NativeBridge.passEnd(last, 0, new byte[ResultHeader.length(5)]));
    assertTrue(Double.isNaN(lossAt(Double.NaN)));
  }

  /** The layers, the rows of {@link #dense} and {@link #sparse} in two blocks, and a step of both. */
  private static byte[] descend(int[] layers, double step, double share, byte[] shared) {
    byte[] result = new byte[ResultHeader.BYTES + shared.length];
    NativeBridge.networkDescend(NetworkLayout.control(0, 5, 2, 0, 2, 1, layers), new double[] {step, share},
        new int[][] {null, {0, 1}}, new int[][] {null, {0}}, new float[][] {null, {-2}}, new double[][] {{3}, null},
        new double[][] {{0}, {1}}, null, null, shared, result, Cancellation.NEVER);
    return result;
  }

  @Test
  void aStepByHand() {
    double s = 1 / (1 + Math.E);
    double t = 1 - s;
    byte[] result = descend(LAYERS, 0.4, 0.5, bytes(0, 0, 1, -1, 0, 0));
    assertEquals(-Math.log(t) - Math.log(s), ResultHeader.get(result, SgdLayout.LOSS_SUM), 1e-14);
    assertEquals(2, ResultHeader.get(result, SgdLayout.WEIGHT_SUM));
    assertEquals(2, ResultHeader.get(result, SgdLayout.CURSOR));
    assertEquals(0, ResultHeader.get(result, SgdLayout.DIVERGED));
    double[] gradient = {3 * (-s / 2) - 2 * (t / 2), (t - s) / 2, (t - s) / 2, (s - t) / 2, t - s, s - t};
    double[] expected = {0, 0, 1, -1, 0, 0};
    for (int k = 0; k < expected.length; k++) {
      expected[k] = 0.5 * (expected[k] - 0.2 * gradient[k]);
    }
    assertArrayEquals(expected, vector(result), 1e-14);
  }

  @Test
  void wrongArgumentsOfADescent() {
    byte[] shared = bytes(0, 0, 1, -1, 0, 0);
    refused("step", () -> descend(LAYERS, -1, 1, shared));
    refused("share", () -> descend(LAYERS, 1, 2, shared));
    refused("size of a layer", () -> descend(new int[] {1, 0, 2}, 1, 1, shared));
    refused("control", () -> descend(new int[NetworkLayout.MAX_LAYERS + 1], 1, 1, shared));
    refused("shared", () -> descend(LAYERS, 1, 1, bytes(0, 0)));
    refused("must be finite", () -> descend(LAYERS, 1, 1, bytes(0, 0, 1, Double.NaN, 0, 0)));
    refused("1 classes", () -> descend(new int[] {1, 2, 1}, 1, 1, bytes(0, 0, 0, 0, 0, 0, 0)));
  }

  private static double lossAt(double weight) {
    long pass = NativeBridge.networkBegin(LAYERS, bytes(weight, 0, 1, -1, 0, 0));
    dense(pass);
    return ResultHeader.get(end(pass), PassLayout.LOSS_SUM);
  }

  /** Five matrices of as many units as an int counts have more weights than 64 bits count. */
  private static int[] huge() {
    int[] layers = new int[6];
    Arrays.fill(layers, Integer.MAX_VALUE);
    return layers;
  }
}
