package dwell.solver.cd

import scala.util.Random

import dwell.LimitedSuite
import dwell.solver.cd.step.{StepChoice, StepFunction}

/** The leader's choice of the step along the workers' direction and the previous one. */
class StepChoiceSuite extends LimitedSuite {

  /** A lasso along two directions, as the leader and the workers know it. */
  private final class Problem(seed: Int, workers: Int) {
    private val random = new Random(seed)
    private def vector(n: Int, zeros: Int): Array[Double] =
      Array.fill(n)(if (random.nextInt(zeros) == 0) random.nextGaussian() else 0.0)
    private val (rows, features) = (30, 50)
    private val a = vector(features, 2)
    private val delta = vector(features, 2)
    private val previous = vector(features, 3)
    private val x = Array.fill(rows)(vector(features, 1))
    private def product(v: Array[Double]): Array[Double] = x.map(row => row.indices.map(i => row(i) * v(i)).sum)
    private val residual = product(a).map(_ + 3.0 * random.nextGaussian())
    private val (first, second) = (product(delta), product(previous))
    private val l1 = 2.0
    private def dot(u: Array[Double], v: Array[Double]): Double = u.indices.map(j => u(j) * v(j)).sum

    val smooth: StepFunction = StepFunction.quadratic(
      dot(residual, first),
      dot(residual, second),
      dot(first, first),
      dot(first, second),
      dot(second, second))

    def rest(g1: Double, g2: Double): Double =
      l1 * a.indices.map(i => math.abs(a(i) + g1 * delta(i) + g2 * previous(i)) - math.abs(a(i))).sum

    val points: Array[Double] = StepChoice.everywhere(workers)
    val samples: Array[Double] = points.grouped(2).map(p => rest(p(0), p(1))).toArray
    def total(g1: Double, g2: Double): Double = smooth(g1, g2).value + rest(g1, g2)
  }

  test("the objective never rises, and falls at least as far as at the best of the points") {
    var falling = 0
    for (seed <- 1 to 200; workers <- Seq(1, 2, 8)) {
      val problem = new Problem(seed, workers)
      val step = StepChoice(problem.smooth, problem.points, problem.samples, workers, objective = 1.0)
      assert(step.rest >= problem.rest(step.g1, step.g2) - 1e-9, "the chord is an upper bound")
      val bound = problem.smooth(step.g1, step.g2).value + step.rest
      val best = problem.points.grouped(2).map(p => problem.total(p(0), p(1))).min
      // A random direction, unlike those of workers, need not lead down.
      if (best < 0.0) {
        falling += 1
        assert(bound <= best + 1e-9 * math.abs(best), s"seed $seed, $workers workers")
      }
    }
    assert(falling > 100)
  }

  test("points that are not feasible are never mixed in") {
    for (seed <- 1 to 50) {
      val problem = new Problem(seed, 2)
      val samples = problem.points.grouped(2).zip(problem.samples.iterator).map { case (p, s) =>
        if (p(0) > 1.0 || p(1) > 0.0) Double.PositiveInfinity else s
      }
      val step = StepChoice(problem.smooth, problem.points, samples.toArray, 2, objective = 1.0)
      assert(step.g1 >= 0.0 && step.g1 <= 1.0 && step.g2 == 0.0)
    }
  }

  test("where nothing is to be gained, the average of the workers' steps is taken") {
    val flat = StepFunction.quadratic(0.0, 0.0, 1.0, 0.0, 1.0)
    assert(StepChoice(flat, Array.empty, Array.empty, 4, 1.0) == StepChoice.StepFactors(0.25, 0.0, 0.0))
  }
}
