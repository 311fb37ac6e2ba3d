package dwell.jni;

import java.util.Map;
import java.util.Random;

/**
 * A random problem on one partition, with the calls on it, and the same calculation in plain Java on dense arrays.
 */
abstract class Problem extends Partition {
  final double[] shared;

  int threads = 1;
  boolean certificate = true;
  double sigmaPrime = 2.0;
  double l2 = 0.01;
  double totalWeight;
  double theta1 = 1.0;
  double theta2 = 0.0;
  double[] points = {};
  long stamp = 0;

  Problem(Random random, int m, int n, Values values, int emptyFrom) {
    super(random, m, n, values, emptyFrom);
    shared = random.doubles(m, -1.0, 1.0).toArray();
  }

  // The orientations differ in these.

  abstract long flags();

  abstract int loss();

  abstract double[] settings();

  abstract int round(Call c);

  abstract int product(Call c);

  /** The value at these coordinates, from the definition; infinite outside of the domain. */
  abstract double value(double[] alpha);

  /** The vector of a result for this step. */
  abstract double[] times(double[] step);

  abstract double kappa(double[] step);

  /** The numbers of the certificate, by slot. */
  abstract Map<Integer, Double> certificate();

  /** The step that a round proposes, and the cursor after it. */
  record Step(double[] delta, long cursor) {}

  abstract Step referenceRound(double[] alpha, long cursor);

  // Calls.

  /** A call with the arrays themselves. */
  Call call(long round) {
    long[] control = CdLayout.control(fit, partition, round, seed, budget, flags(), threads, m, stamp, loss());
    return call(control, settings(), bytes(shared), newResult());
  }

  Call copiedCall(long round) {
    return copied(call(round));
  }

  int round(long round, byte[] result) {
    return round(round, result, Cancellation.NEVER);
  }

  int round(long round, byte[] result, Cancellation cancellation) {
    Call c = call(round);
    c.result = result;
    c.cancellation = cancellation;
    return round(c);
  }

  int product(long round, byte[] result) {
    Call c = call(round);
    c.result = result;
    return product(c);
  }

  byte[] newResult() {
    return ResultHeader.allocate(m);
  }

  // The worker state.

  double[] exportedAlpha() {
    return exported(new long[CdLayout.META_SLOTS])[0];
  }

  double[] exportedPrevious() {
    return exported(new long[CdLayout.META_SLOTS])[1];
  }

  double[] exportedDelta() {
    return exported(new long[CdLayout.META_SLOTS])[2];
  }

  long[] exportedMeta() {
    long[] meta = new long[CdLayout.META_SLOTS];
    exported(meta);
    return meta;
  }

  private double[][] exported(long[] meta) {
    double[][] state = new double[3][NativeBridge.stateSize(fit, partition)];
    NativeBridge.exportState(fit, partition, meta, state[0], state[1], state[2]);
    return state;
  }
}
