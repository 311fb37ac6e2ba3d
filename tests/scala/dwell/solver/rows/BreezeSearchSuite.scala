package dwell.solver.rows.search

import scala.util.Random

import dwell.LimitedSuite

class BreezeSearchSuite extends LimitedSuite {

  test("a parabola within a box: where the search ends, each gradient is 0 or held by a bound") {
    val random = new Random(13)
    for (n <- Seq(1, 2, 8, 30); tight <- Seq(true, false)) {
      val a = Array.fill(n + 3, n)(random.nextGaussian())
      val b = Array.fill(n + 3)(random.nextGaussian())
      val size = if (tight) 0.1 else 10.0
      val lower = Array.fill(n)(if (random.nextInt(4) == 0) Double.NegativeInfinity else -size * random.nextDouble())
      val upper = Array.fill(n)(if (random.nextInt(4) == 0) Double.PositiveInfinity else size * random.nextDouble())
      def evaluate(x: Array[Double]): (Double, Array[Double]) = {
        val errors = a.indices.map(i => (0 until n).map(j => a(i)(j) * x(j)).sum - b(i))
        (1.0 + errors.map(e => 0.5 * e * e).sum, Array.tabulate(n)(j => a.indices.map(i => a(i)(j) * errors(i)).sum))
      }
      val start = Array.tabulate(n)(j => math.max(lower(j), math.min(upper(j), random.nextGaussian())))
      val points = BreezeSearch.within(lower, upper, 500, 1e-15)(evaluate).iterations(start).toSeq
      for (point <- points; j <- 0 until n) assert(point.x(j) >= lower(j) && point.x(j) <= upper(j))
      for (Seq(before, after) <- points.map(_.value).sliding(2) if points.size > 1) assert(after <= before)
      val last = points.last
      assert(last.converged && points.init.forall(!_.converged) && points.size < 500, s"$n: ${points.size}")
      for (j <- 0 until n) {
        val g = evaluate(last.x)._2(j)
        val isHeld = last.x(j) <= lower(j) && g >= 0.0 || last.x(j) >= upper(j) && g <= 0.0
        assert(isHeld || math.abs(g) <= 1e-5, s"$n variables, tight $tight: gradient $g at ${last.x(j)}")
      }
    }
  }
}
