package dwell.jni;

import static dwell.jni.Spoiling.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Sums of features: a case by hand, and wrong arguments, each an exception that names the argument. */
class FeatureSumsTest {
  private static final int EACH = SumsLayout.SUMS;

  @BeforeAll
  static void load() {
    NativeLoader.ensureLoaded();
  }

  @Test
  void byHand() {
    long[] ones = new long[8];
    int[] positions = new int[4];
    double[] sums = new double[3 * EACH];
    // Rows (0, 2, 0, 1) and (0, 3, 0, 1), then (5, 0.1, 0, 1) of weight 2.
    int used = NativeBridge.featureSums(new int[] {0, 2, 4}, new int[] {1, 3, 1, 3}, new float[] {2, 1, 3, 1}, null,
        new double[] {1, 0}, null, 0, ones, positions, sums);
    assertEquals(2, used);
    used = NativeBridge.featureSums(null, null, null, new double[] {5, 0.1, 0, 1}, new double[] {1}, new double[] {2}, used,
        ones, positions, sums);
    assertEquals(3, used);
    assertArrayEquals(new int[] {3, 1, 0, 2}, positions);
    double step = 0.1 - 2;
    assertArrayEquals(new double[] {
      3, 4, 2, 1 + 2 * step, 1 + 2 * step * step, 2.2, 2,
      3, 4, 1, 0, 0, 3, 0,
      1, 2, 5, 0, 0, 10, 1}, sums, 1e-15);
    assertArrayEquals(new long[8], ones);
    // A block of ones: rows (1, 1, 0, 0) and (0, 1, 0, 0).
    used = NativeBridge.featureSums(new int[] {0, 2, 3}, new int[] {0, 1, 1}, null, null, new double[] {1, 0}, null, used, ones,
        positions, sums);
    assertEquals(3, used);
    assertArrayEquals(new long[] {0, 1, 1, 1, 0, 0, 0, 0}, ones);
  }

  @Test
  void wrongArguments() {
    int[] offsets = {0, 1};
    int[] features = {1};
    float[] values = {2};
    double[] labels = {1};
    long[] ones = new long[4];
    int[] positions = new int[2];
    double[] sums = new double[EACH];
    double[] long1 = new double[1];
    refused("labels", () -> NativeBridge.featureSums(offsets, features, values, null, null, null, 0, ones, positions, sums));
    refused("positions", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, 0, ones, null, sums));
    refused("sums", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, 0, ones, positions, long1));
    refused("sums", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, 2, ones, positions, sums));
    refused("used", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, -1, ones, positions, sums));
    refused("offsets", () -> NativeBridge.featureSums(features, features, values, null, labels, null, 0, ones, positions, sums));
    refused("values32", () -> NativeBridge.featureSums(null, null, values, null, labels, null, 0, ones, positions, sums));
    refused("given twice", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, 0, ones, features, sums));
    refused("given twice", () -> NativeBridge.featureSums(offsets, features, values, null, labels, labels, 0, ones, positions, labels));
    refused("ones", () -> NativeBridge.featureSums(offsets, features, values, null, labels, null, 0, new long[3], positions, sums));
    // A feature out of range is a fault of the caller, and no memory is touched.
    assertThrows(RuntimeException.class,
        () -> NativeBridge.featureSums(offsets, new int[] {2}, values, null, labels, null, 0, ones, positions, sums));
  }
}
