package dwell.jni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Worker states of either orientation: repeated, late and stale calls, rebuilds, cancellation. Every test leaves no state behind. */
abstract class StateTest {
  private Problem p;

  /** The same problem at every call, with a fit of its own. */
  abstract Problem problem();

  @BeforeEach
  void create() {
    NativeLoader.ensureLoaded();
    p = problem();
  }

  @AfterEach
  void nothingIsLeft() {
    p.free();
    assertEquals(0, NativeBridge.stateEntries());
    assertEquals(0, NativeBridge.stateBytes());
  }

  private byte[] ok(long round) {
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.round(round, result));
    return result;
  }

  private void lost(long round) {
    assertEquals(NativeBridge.STATE_LOST, p.round(round, p.newResult()));
  }

  @Test
  void aRepeatedRoundIsTheSameAndAppliesOnce() {
    RoundChecks.sameNumbers(ok(0), ok(0));
    byte[] once = ok(1);
    double[] alpha = p.exportedAlpha();
    RoundChecks.sameNumbers(once, ok(1));
    assertArrayEquals(alpha, p.exportedAlpha(), 0.0);
    assertArrayEquals(new long[] {1, 0}, Arrays.copyOf(p.exportedMeta(), 2));
  }

  @Test
  void theVerdictDecidesWhetherAStepIsCommitted() {
    ok(0);
    double[] delta = p.exportedDelta();
    p.theta1 = 0.0;
    ok(1);
    assertArrayEquals(new double[p.n], p.exportedAlpha(), 0.0);
    p.theta1 = 1.0;
    p.partition++;
    ok(0);
    ok(1);
    assertEquals(0, p.exportedAlpha().length - delta.length);
    assertTrue(Arrays.stream(p.exportedAlpha()).anyMatch(a -> a != 0.0));
  }

  @Test
  void otherRoundsAndStampsAreLost() {
    lost(1);
    p.stamp = 1;
    lost(0);
    p.stamp = 0;
    ok(0);
    lost(2);
    ok(1);
    lost(0);
    p.stamp = 5;
    lost(1);
    p.stamp = 0;
    ok(2);
  }

  @Test
  void aRebuildKeepsAMatchingStateUnderANewStamp() {
    ok(0);
    ok(1);
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.product(2, result));
    assertEquals(6.0, ResultHeader.get(result, CdLayout.STAMP));
    assertArrayEquals(new long[] {3, 6}, Arrays.copyOf(p.exportedMeta(), 2));
    assertEquals(-1, p.exportedMeta()[CdLayout.META_PENDING_ROUND]);
    byte[] again = p.newResult();
    assertEquals(NativeBridge.OK, p.product(2, again));
    assertEquals(6.0, ResultHeader.get(again, CdLayout.STAMP));
    RoundChecks.sameNumbers(result, again);
    // The rounds before the rebuild are late now, and so is one with the stamp from before it.
    lost(1);
    lost(2);
    lost(3);
    p.stamp = 6;
    ok(3);
    // A late attempt of the rebuild leaves the round after it alone.
    long[] meta = p.exportedMeta();
    p.stamp = 0;
    assertEquals(NativeBridge.OK, p.product(2, again));
    RoundChecks.sameNumbers(result, again);
    assertArrayEquals(meta, p.exportedMeta());
    // Later still, it is refused.
    p.stamp = 6;
    ok(4);
    meta = p.exportedMeta();
    p.stamp = 0;
    assertEquals(NativeBridge.STATE_LOST, p.product(2, again));
    assertArrayEquals(meta, p.exportedMeta());
  }

  @Test
  void aStepThatARebuildDroppedDoesNotComeBack() throws InterruptedException {
    ok(0);
    ok(1);
    assertEquals(NativeBridge.OK, p.product(1, p.newResult()));
    Thread.sleep(20);
    assertTrue(NativeBridge.expire(1) > 0);
    // The messages from before the rebuild arrive once more.
    ok(0);
    ok(1);
    p.stamp = 4;
    lost(2);
  }

  @Test
  void aRebuildWithoutAStateStartsFromZeroUnderANewStamp() {
    byte[] result = p.newResult();
    assertEquals(NativeBridge.OK, p.product(4, result));
    assertEquals(11.0, ResultHeader.get(result, CdLayout.STAMP));
    assertArrayEquals(new double[p.m], Partition.vector(result), 0.0);
    lost(5);
    p.stamp = 11;
    ok(5);
    // Another stamp: this state is not the one that the caller means.
    p.stamp = 2;
    assertEquals(NativeBridge.OK, p.product(6, result));
    assertEquals(15.0, ResultHeader.get(result, CdLayout.STAMP));
  }

  @Test
  void aFreedFitDoesNotComeBack() {
    ok(0);
    long bytes = NativeBridge.stateBytes();
    assertTrue(bytes >= 3 * 8 * p.n);
    assertEquals(bytes, p.free());
    assertEquals(0, p.free());
    lost(0);
    assertEquals(NativeBridge.STATE_LOST, p.product(0, p.newResult()));
    NativeBridge.importState(p.fit, p.partition, new long[CdLayout.META_IMPORTED], new double[p.n], new double[p.n]);
    assertEquals(-1, NativeBridge.stateSize(p.fit, p.partition));
  }

  @Test
  void aStateTravels() {
    byte[] kept = p.newResult();
    ok(0);
    ok(1);
    assertEquals(NativeBridge.OK, p.round(2, kept));
    Problem q = problem();
    try {
      byte[] result = q.newResult();
      long[] meta = new long[CdLayout.META_SLOTS];
      double[][] state = {new double[p.n], new double[p.n], new double[p.n]};
      assertFalse(NativeBridge.exportState(q.fit, q.partition, meta, state[0], state[1], state[2]));
      for (long t = 0; t < 3; t++) {
        assertEquals(NativeBridge.OK, q.round(t, result));
        assertTrue(NativeBridge.exportState(q.fit, q.partition, meta, state[0], state[1], state[2]));
        // The leader does what the verdict does.
        for (int i = 0; i < q.n; i++) {
          state[1][i] = q.theta1 * state[2][i] + q.theta2 * state[1][i];
          state[0][i] += state[1][i];
        }
        NativeBridge.importState(q.fit, q.partition, new long[] {t + 1, 0, meta[CdLayout.META_PENDING_CURSOR]}, state[0], state[1]);
      }
      RoundChecks.sameNumbers(kept, result);
    } finally {
      q.free();
    }
  }

  @Test
  void theLineSearchSeesWhatTheLastCommitAdded() {
    p.points = new double[] {1.0, 0.0, 0.0, 1.0};
    byte[] first = ok(0);
    assertEquals(0.0, ResultHeader.get(first, CdLayout.SLOPE2));
    assertEquals(0.0, ResultHeader.get(first, CdLayout.SAMPLES + 1));
    byte[] second = ok(1);
    assertTrue(ResultHeader.get(second, CdLayout.SLOPE2) != 0.0 && ResultHeader.get(second, CdLayout.CURVE22) > 0.0);
    // A step that was rejected is no direction.
    p.theta1 = 0.0;
    byte[] third = ok(2);
    assertEquals(0.0, ResultHeader.get(third, CdLayout.SLOPE2));
    assertEquals(0.0, ResultHeader.get(third, CdLayout.CURVE22));
  }

  @Test
  void expiryFreesWhatNoCallTouched() throws InterruptedException {
    ok(0);
    assertEquals(0, NativeBridge.expire(Duration.ofHours(1).toMillis()));
    Thread.sleep(20);
    assertTrue(NativeBridge.expire(1) > 0);
    assertEquals(-1, NativeBridge.stateSize(p.fit, p.partition));
    lost(1);
    // Not freed for good: the fit may go on after a rebuild.
    assertEquals(NativeBridge.OK, p.product(1, p.newResult()));
  }

  @Test
  void failedCallsLeaveNothingBehind() {
    double good = p.l2;
    p.l2 = Double.NaN;
    assertThrows(IllegalArgumentException.class, () -> ok(0));
    assertEquals(0, NativeBridge.stateEntries());
    p.l2 = good;
    ok(0);
    long[] meta = p.exportedMeta();
    p.shared[3] = Double.POSITIVE_INFINITY;
    assertThrows(IllegalArgumentException.class, () -> ok(1));
    assertArrayEquals(meta, p.exportedMeta());
  }

  @Test
  void aCancelledRoundEndsAtOnceAndLeavesTheState() {
    ok(0);
    long[] meta = p.exportedMeta();
    p.budget = Long.MAX_VALUE;
    Cancelling.endsAtOnce(cancellation -> p.round(1, p.newResult(), cancellation));
    assertArrayEquals(meta, p.exportedMeta());
  }

  @Test
  void anExceptionOfTheCancellationIsKept() {
    IllegalStateException e = assertThrows(IllegalStateException.class, () -> p.round(0, p.newResult(), () -> {
      throw new IllegalStateException("task killed");
    }));
    assertEquals("task killed", e.getMessage());
    assertEquals(0, NativeBridge.stateEntries());
  }
}
