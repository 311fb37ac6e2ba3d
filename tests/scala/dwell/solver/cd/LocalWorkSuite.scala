package dwell.solver.cd

import dwell.LimitedSuite
import dwell.solver.cd.step.LocalWork

/** The choice of the epochs in a round. */
class LocalWorkSuite extends LimitedSuite {

  /** The work chosen for rounds of `fixed + epoch * H` seconds. */
  private def settled(work: LocalWork, fixed: Double, epoch: Double): Double = {
    (1 to 20).foreach { _ =>
      val epochs = work.next
      work.measure(fixed + epoch * epochs, epoch * epochs, epochs, certificate = false)
    }
    work.next
  }

  test("what the user has set is never changed") {
    for (epochs <- Seq(0.3, 200.0)) assert(settled(new LocalWork(Some(epochs), most = 16.0), 1.0, 1.0) == epochs)
  }

  test("the optimum of the performance model is found from synthetic times, to the next power of 2") {
    for (ratio <- Seq(0.1, 0.5, 1.0, 4.0, 16.0)) {
      val optimum = 1.3 * math.sqrt(ratio)
      val found = settled(new LocalWork(None, most = 16.0), 0.01 * ratio, 0.01)
      assert(found >= optimum / 1.5 && found <= optimum * 1.5, s"ratio $ratio")
    }
  }

  test("the measured work is independent of the unit of time") {
    assert(settled(new LocalWork(None, most = 16.0), 0.2, 0.05) == settled(new LocalWork(None, most = 16.0), 20.0, 5.0))
  }

  test("work stays between its bounds, whatever is measured") {
    for (fixed <- Seq(0.0, 1e-6, 1e3); epoch <- Seq(0.0, 1e-6, 1e3)) {
      val found = settled(new LocalWork(None, most = 16.0), fixed, epoch)
      assert(found >= 0.25 && found <= 16.0)
    }
  }

  test("the first round, which pays for compiling, counts as one that does not") {
    val work = new LocalWork(None, most = 16.0)
    work.measure(100.0, 1.0, work.next, certificate = false)
    assert(settled(work, 0.01, 0.01) == 1.0)
  }
}
