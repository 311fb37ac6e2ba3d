package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.DoubleBuffer;
import org.junit.jupiter.api.Test;

/** Lengths and slots of results and models. */
class LayoutTest {

  @Test
  void slotsAndVectors() {
    byte[] result = ResultHeader.allocate(2);
    assertEquals(ResultHeader.BYTES + 16, result.length);
    ResultHeader.put(result, ResultHeader.STARTED, 1.5);
    ResultHeader.vector(result).put(1, -2.5);
    assertEquals(1.5, ResultHeader.get(result, ResultHeader.STARTED));
    assertEquals(-2.5, ResultHeader.get(result, ResultHeader.SLOTS + 1));
    DoubleBuffer all = ResultHeader.doubles(result);
    assertEquals(ResultHeader.SLOTS + 2, all.remaining());
    assertEquals(1.5, all.get(ResultHeader.STARTED));
  }

  @Test
  void lengthsOfResults() {
    assertTrue(ResultHeader.length(ResultHeader.MAX_ENTRIES) <= Integer.MAX_VALUE - 15);
    assertTrue(ResultHeader.length(ResultHeader.MAX_ENTRIES) > Integer.MAX_VALUE - 15 - 8);
    for (int entries : new int[] {-1, ResultHeader.MAX_ENTRIES + 1}) {
      IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> ResultHeader.length(entries));
      assertEquals("A result holds 0 to " + ResultHeader.MAX_ENTRIES + " entries, not " + entries, e.getMessage());
    }
  }

  @Test
  void modelsWithIntercepts() {
    assertEquals(93, SgdLayout.entries(30, 3));
    assertEquals(ResultHeader.BYTES + 8 * 93, SgdLayout.allocate(30, 3).length);
    assertEquals(ResultHeader.MAX_ENTRIES, SgdLayout.entries(ResultHeader.MAX_ENTRIES - 1, 1));
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> SgdLayout.length(ResultHeader.MAX_ENTRIES, 1));
    assertTrue(e.getMessage().startsWith("a model of " + ResultHeader.MAX_ENTRIES + " features and 1 outputs has "), e.getMessage());
    assertThrows(IllegalArgumentException.class, () -> SgdLayout.entries(Integer.MAX_VALUE, Integer.MAX_VALUE));
  }

  @Test
  void factorsOfADescent() {
    byte[] result = SgdLayout.allocate(0, 1);
    assertEquals(0, SgdLayout.factors(result).length);
    ResultHeader.put(result, SgdLayout.FACTORS, 2.0);
    ResultHeader.put(result, SgdLayout.FACTOR, 0.75);
    ResultHeader.put(result, SgdLayout.FACTOR + 1, 0.5);
    assertArrayEquals(new double[] {0.75, 0.5}, SgdLayout.factors(result));
  }

  @Test
  void modelsOfTopics() {
    assertEquals(120, LdaLayout.entries(30, 4));
    assertEquals(480, LdaLayout.vectorBytes(30, 4));
    assertEquals(64, LdaLayout.vectorBytes(5, 3));
    assertEquals(ResultHeader.BYTES + 64, LdaLayout.length(5, 3, false));
    assertEquals(ResultHeader.BYTES + 64 + 24, LdaLayout.length(5, 3, true));
    int max = (int) LdaLayout.maxEntries(1);
    assertTrue(LdaLayout.length(max, 1, true) > Integer.MAX_VALUE - 32 && LdaLayout.length(max, 1, true) < Integer.MAX_VALUE - 8);
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.vectorBytes(max + 1, 1));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(0, 4));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(4, 0));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.entries(Integer.MAX_VALUE, 1));
    assertThrows(IllegalArgumentException.class, () -> LdaLayout.length(Integer.MAX_VALUE, Integer.MAX_VALUE, true));
  }
}
