package dwell.solver.cd

import scala.util.Random

import dwell.LimitedSuite
import dwell.solver.cd.step.{LineSearch, StepFunction, StepValue}

/** The minimisation of a smooth function along two directions. */
class LineSearchSuite extends LimitedSuite {

  test("a quadratic is minimised exactly") {
    val random = new Random(1)
    (0 until 200).foreach { _ =>
      val (p, q, r) = (random.nextGaussian(), random.nextGaussian(), random.nextGaussian())
      // B^T B + 1, B = [p q; 0 r]: the minimum is within the bounds of the factors
      val (a, b, c) = (p * p + 1.0, p * q, q * q + r * r + 1.0)
      val (s1, s2) = (random.nextGaussian(), random.nextGaussian())
      val (g1, g2) = LineSearch.minimise(StepFunction.quadratic(s1, s2, a, b, c))
      assert(math.abs(a * g1 + b * g2 + s1) < 1e-8 * (math.abs(s1) + math.abs(s2)))
      assert(math.abs(b * g1 + c * g2 + s2) < 1e-8 * (math.abs(s1) + math.abs(s2)))
    }
  }

  test("of two parallel directions the second is not used") {
    val (g1, g2) = LineSearch.minimise(StepFunction.quadratic(-2.0, -4.0, 1.0, 2.0, 4.0))
    assert(g1 == 2.0 && g2 == 0.0)
  }

  test("factors are bounded, since a direction that calls for more is rounding") {
    val (g1, g2) = LineSearch.minimise(StepFunction.quadratic(-1.0, 0.0, 1e-9, 0.0, 1.0))
    assert(g1 == 10.0 && g2 == 0.0)
  }

  test("no direction, no step") {
    assert(LineSearch.minimise(StepFunction.quadratic(0.0, 0.0, 0.0, 0.0, 0.0)) == ((0.0, 0.0)))
  }

  test("a convex function that Newton's method alone overshoots is never raised and its minimum found") {
    // log cosh along g1 from far out, where its curvature vanishes, and a quartic along g2
    val far = 2.0
    def logCosh(x: Double): Double = math.abs(x) + math.log1p(math.exp(-2.0 * math.abs(x)))
    val values = Seq.newBuilder[Double]
    val f: StepFunction = (g1, g2) => {
      val x = g1 + far
      val value = logCosh(x) - logCosh(far) + math.pow(g2 - 1.0, 4) - 1.0
      values += value
      StepValue(
        value,
        math.tanh(x),
        4.0 * math.pow(g2 - 1.0, 3),
        1.0 - math.tanh(x) * math.tanh(x),
        0.0,
        12.0 * (g2 - 1.0) * (g2 - 1.0))
    }
    val (g1, g2) = LineSearch.minimise(f)
    assert(math.abs(g1 + far) < 1e-3)
    assert(math.abs(g2 - 1.0) < 0.05)
    assert(f(g1, g2).value <= values.result().head)
  }
}
