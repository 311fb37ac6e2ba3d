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
    int size = NativeBridge.stateSize(fit, partition);
    double[] alpha = new double[size];
    NativeBridge.exportState(fit, partition, new long[CdLayout.META_SLOTS], alpha, new double[size], new double[size]);
    return alpha;
  }

  double[] exportedPrevious() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] previous = new double[size];
    NativeBridge.exportState(fit, partition, new long[CdLayout.META_SLOTS], new double[size], previous, new double[size]);
    return previous;
  }

  double[] exportedDelta() {
    int size = NativeBridge.stateSize(fit, partition);
    double[] delta = new double[size];
    NativeBridge.exportState(fit, partition, new long[CdLayout.META_SLOTS], new double[size], new double[size], delta);
    return delta;
  }

  long[] exportedMeta() {
    int size = NativeBridge.stateSize(fit, partition);
    long[] meta = new long[CdLayout.META_SLOTS];
    NativeBridge.exportState(fit, partition, meta, new double[size], new double[size], new double[size]);
    return meta;
  }
}
