package dwell.solver.lda

import dwell.LimitedSuite
import dwell.solver.cd.Golden._
import dwell.solver.lda.leader.LdaPace
import dwell.solver.lda.worker.LdaSchedule

/** Step sizes, and the number of documents in a round. */
class LdaScheduleSuite extends LimitedSuite {

  /** Rounding of the machine's powers and logarithms. */
  private val Rounding = 1e-13

  private def near(actual: Double, expected: Double): Boolean =
    math.abs(actual - expected) <= Rounding * math.abs(expected)

  test("steps are those of the definition") {
    items(golden("topics").get("schedule")).foreach { c =>
      def number(name: String): Double = c.get(name).asDouble
      val schedule = LdaSchedule(number("tau0"), number("kappa"))
      assert(near(schedule.rho(number("seen")), number("rho")), c)
      val step = schedule.step(number("seen"), number("documents"), number("workers"))
      assert(near(step, number("step")), c)
    }
  }

  test("a step of tau0 = 0 forgets everything, and the batch that it is in does not matter") {
    val schedule = LdaSchedule(tau0 = 0.0, kappa = 0.7)
    assert(schedule.rho(0.0) == 1.0 && schedule.step(0.0, 1.0, 1.0) == 1.0)
  }

  /** Documents of all rounds of a fit. */
  private def rounds(pace: LdaPace): Seq[Long] =
    Iterator
      .iterate((0L, pace.next(0L))) { case (seen, round) => (seen + round.get, pace.next(seen + round.get)) }
      .map(_._2)
      .takeWhile(_.nonEmpty)
      .flatten
      .toSeq

  test("an iteration is a round where workers stay together") {
    val made = rounds(LdaPace(LdaSchedule(64.0, 0.51), perIteration = 4000L, iterations = 5))
    assert(made == Seq.fill(5)(4000L))
    assert(rounds(LdaPace(LdaSchedule(64.0, 0.51), perIteration = 4000L, iterations = 0)).isEmpty)
  }

  test("an iteration that is too long is cut into rounds whose steps add up to 1 at most") {
    val schedule = LdaSchedule(64.0, 0.51)
    val made = rounds(LdaPace(schedule, perIteration = 100000L, iterations = 2))
    assert(made.sum == 200000L)
    val begins = made.scanLeft(0L)(_ + _)
    made.zip(begins).foreach { case (round, seen) =>
      val steps = round / 1000.0 * schedule.rho(seen.toDouble)
      assert(steps <= 1.001 && steps > 0.4, s"$steps after $seen")
    }
    assert(begins.contains(100000L), "an iteration ends where it ends")
    // Steps shrink, so rounds grow.
    assert(made.takeWhile(_ < 100000L).size < 20 && made.head < made.last)
  }
}
