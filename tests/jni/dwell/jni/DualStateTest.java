package dwell.jni;

import java.util.Random;

/** The states of dual calls. */
class DualStateTest extends StateTest {
  @Override
  Problem problem() {
    return new DualProblem(new Random(6), 30, 20, Problem.Values.DOUBLES, true, true, true, DualProblem.SMOOTHED_HINGE);
  }
}
