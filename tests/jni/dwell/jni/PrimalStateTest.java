package dwell.jni;

import java.util.Random;

/** The states of primal calls. */
class PrimalStateTest extends StateTest {
  @Override
  Problem problem() {
    return new PrimalProblem(new Random(6), 30, 20, Problem.Values.DOUBLES, true, true);
  }
}
