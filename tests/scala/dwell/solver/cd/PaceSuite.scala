package dwell.solver.cd

import dwell.LimitedSuite
import dwell.record.RoundRecord
import dwell.solver.cd.leader.Pace

/** What rounds tell of those to come. */
class PaceSuite extends LimitedSuite {

  /** Rounds 0, 1, ... with these objectives, of which a lower bound is known if `bounded`. */
  private def pace(rounds: Int, optimum: Double = 1.0, bounded: Boolean = true)(excess: Int => Double): Pace =
    Pace((0 to rounds).map { k =>
      val objective = optimum + excess(k)
      val gap = if (bounded) excess(k) else objective
      RoundRecord(k, objective, gap, 0.0, 0.0, 0.0, 0.0, 1.0, 0L, 0, 0.0, Seq.empty)
    })

  private def falling(factor: Double)(k: Int): Double = math.pow(factor, k)

  test("rounds are slow once the gap has not halved in ten of them, and is not about to close") {
    def isSlow(pace: Pace): Boolean = pace.isSlow(1e-6, 100)
    assert(!isSlow(pace(9)(_ => 1.0)))
    assert(isSlow(pace(10)(_ => 1.0)))
    assert(isSlow(pace(10)(falling(0.94))) && !isSlow(pace(10)(falling(0.92))))
    // Only the last ten count.
    assert(isSlow(pace(40)(k => math.max(1e-6 * 2.0, falling(0.5)(k)))))
    // log(2) / log(1 / 0.95) is 13.5.
    val steady = pace(20)(k => 2e-6 * falling(0.95)(k - 20))
    assert(!steady.isSlow(1e-6, 14) && steady.isSlow(1e-6, 13))
    assert(pace(20)(k => 2e-6 * falling(1.01)(k)).isSlow(1e-6, 1000))
  }

  test("a trial fails once the gap has not fallen to a hundredth in four rounds") {
    assert(!pace(3)(_ => 1.0).failsTrial)
    assert(pace(4)(falling(0.5)).failsTrial && !pace(4)(falling(0.3)).failsTrial)
  }

  test(
    "without a bound, rounds are slow once the falls of the objective do not halve from ten of them to the next ten") {
    def isSlow(pace: Pace): Boolean = pace.isSlow(1e-6, 100)
    def unproven(rounds: Int)(excess: Int => Double): Boolean = isSlow(pace(rounds, bounded = false)(excess))
    assert(!unproven(19)(_ => 0.0) && unproven(20)(_ => 0.0))
    assert(unproven(20)(k => 20.0 - k))
    assert(unproven(20)(falling(0.94)) && !unproven(20)(falling(0.92)))
    // A bound that was known before says nothing of these rounds.
    val rounds = pace(20, optimum = 2.0)(falling(0.94)).rounds.map(r => r.copy(gap = r.objective - 0.5))
    assert(isSlow(Pace(rounds)) && !isSlow(Pace(rounds.take(20), known = 0.5)) && isSlow(Pace(rounds, known = 0.5)))
  }

  test("a gap that halves arrives where its pace says, and one that does not halve never") {
    // After 20 rounds it is 1e-2; another factor of 1e-4 takes 40 rounds.
    val steady = pace(20)(falling(math.pow(10.0, -0.1)))
    assert(!steady.arrives(1e-6, 39) && steady.arrives(1e-6, 41))
    assert(steady.arrives(1e-1, 0))
    assert(!pace(20)(_ => 1.0).arrives(0.9, 1000))
    assert(!pace(9)(falling(0.1)).arrives(1e-6, 1000))
  }
}
