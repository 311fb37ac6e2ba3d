package dwell.solver.problem

import scala.util.Random

import dwell.LimitedSuite
import dwell.solver.cd.{DualSolverTests, GoldenSuite}

/** The losses, their conjugates and their dual steps. */
class LossSuite extends LimitedSuite {
  import DualSolverTests.losses

  /** Labels that a loss takes. */
  private def labels(loss: MarginLoss): Seq[Double] =
    if (loss.labels == Labels.Signed) Seq(-1.0, 1.0) else Seq(-3.5, 0.0, 0.25, 8.0)

  /** Dual variables in the domain of the conjugate, including its corners. */
  private def domain(loss: MarginLoss, y: Double): Seq[Double] = loss match {
    case Squared => Seq(-20.0, -1.0, 0.0, 0.3, 5.0)
    case SquaredHinge => Seq(0.0, 1e-9, 0.5, 1.0, 3.0, 40.0).map(_ * y)
    case _ => Seq(0.0, 1e-12, 0.1, 0.5, 0.75, 1.0 - 1e-9, 1.0).map(_ * y)
  }

  private val predictions = (-40 to 40).map(_ / 8.0)

  test("golden values") {
    assert(Squared.value(3.0, 1.0) == 2.0 && Squared.conjugate(2.0, 1.0) == 0.0)
    assert(Logistic.value(0.0, 1.0) == math.log(2.0) && Logistic.conjugate(0.5, 1.0) == -math.log(2.0))
    assert(math.abs(Logistic.value(1.0, 1.0) - 0.31326168751822286) < 1e-16)
    assert(math.abs(Logistic.value(-40.0, 1.0) - 40.0) < 1e-14 && Logistic.value(800.0, 1.0) < 1e-307)
    assert(Logistic.value(-800.0, 1.0) == 800.0)
    assert(Hinge.value(0.25, 1.0) == 0.75 && Hinge.value(0.25, -1.0) == 1.25 && Hinge.value(2.0, 1.0) == 0.0)
    val smoothed = SmoothedHinge(0.5)
    assert(Seq(-1.0, 0.5, 0.75, 1.0, 2.0).map(smoothed.value(_, 1.0)) == Seq(1.75, 0.25, 0.0625, 0.0, 0.0))
    assert(smoothed.conjugate(0.5, 1.0) == -0.4375)
    assert(SquaredHinge.value(-1.0, 1.0) == 4.0 && SquaredHinge.conjugate(-2.0, -1.0) == -1.0)
    assert(losses.map(_.curvature) == Seq(1.0, 0.25, Double.PositiveInfinity, 2.0, 2.0))
    assert(losses.map(_.code) == Seq(0, 1, 2, 3, 4))
  }

  for (loss <- losses) {
    test(s"$loss: Fenchel-Young, with equality at the derivative") {
      for (y <- labels(loss); z <- predictions) {
        for (a <- domain(loss, y)) {
          assert(loss.value(z, y) + loss.conjugate(a, y) + a * z >= -1e-13 * (1.0 + math.abs(a * z)))
        }
        val a = -loss.derivative(z, y)
        val rest = loss.value(z, y) + loss.conjugate(a, y) + a * z
        assert(math.abs(rest) < 1e-12 * (1.0 + math.abs(a * z)), s"z=$z, y=$y")
      }
    }

    test(s"$loss: derivatives are those of the value, and the curvature bounds the second") {
      val h = 1e-5
      for (y <- labels(loss); z <- predictions) {
        // The difference must not cross a corner of the hinge.
        if (math.abs(1.0 - y * z) > 2 * h) {
          val slope = (loss.value(z + h, y) - loss.value(z - h, y)) / (2.0 * h)
          assert(math.abs(slope - loss.derivative(z, y)) < 1e-4, s"z=$z, y=$y")
        }
        val corners = loss match {
          case SmoothedHinge(gamma) => Seq(0.0, gamma)
          case Hinge | SquaredHinge => Seq(0.0)
          case Squared | Logistic => Nil
        }
        if (corners.forall(corner => math.abs(1.0 - y * z - corner) > 2 * h)) {
          val slope = (loss.derivative(z + h, y) - loss.derivative(z - h, y)) / (2.0 * h)
          assert(math.abs(slope - loss.secondDerivative(z, y)) < 1e-5, s"z=$z, y=$y")
        }
        val rise = (loss.derivative(z + h, y) - loss.derivative(z - h, y)) / (2.0 * h)
        assert(rise >= -1e-9 && rise <= loss.curvature * (1.0 + 1e-9))
      }
    }

    test(s"$loss: the conjugate is infinite outside of its domain, and the sum of its parts inside") {
      for (y <- labels(loss)) {
        if (loss.labels == Labels.Signed) assert(loss.conjugate(-y * 1e-9, y) == Double.PositiveInfinity)
        if (loss.labels == Labels.Signed && loss != SquaredHinge)
          assert(loss.conjugate(y * 1.000001, y) == Double.PositiveInfinity)
        for (a <- domain(loss, y)) {
          val parts =
            loss.conjugateSlope(y) * a + loss.conjugateCurvature * a * a / 2.0 + loss.conjugateRest(a, y)
          assert(math.abs(parts - loss.conjugate(a, y)) <= 1e-14 * (1.0 + math.abs(parts)))
        }
      }
    }

    test(s"$loss: the dual step is the minimiser") {
      for (y <- labels(loss); a <- domain(loss, y); z <- predictions; q <- Seq(1e-6, 0.1, 1.0, 30.0, 1e4)) {
        def objective(next: Double): Double =
          loss.conjugate(next, y) + z * (next - a) + q * (next - a) * (next - a) / 2.0
        val next = loss.dualStep(a, z, y, q)
        val value = objective(next)
        assert(!value.isInfinite && !value.isNaN, s"a=$a, z=$z, y=$y, q=$q")
        val size = 1.0 + math.abs(value) + math.abs(z * (next - a))
        for (step <- Seq(-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0)) {
          assert(objective(next + step) >= value - 1e-13 * size, s"a=$a, z=$z, y=$y, q=$q, step=$step")
        }
        assert(objective(a) >= value - 1e-13 * size)
      }
    }
  }

  test("the logistic step solves its equation to the last digits, from any start") {
    val random = new Random(1)
    for (_ <- 0 until 20000) {
      val q = math.pow(10.0, random.nextDouble() * 10.0 - 4.0)
      val m = random.nextGaussian() * math.pow(10.0, random.nextDouble() * 4.0 - 2.0)
      val p = random.nextInt(4) match {
        case 0 => 0.0
        case 1 => 1.0
        case _ => random.nextDouble()
      }
      val next = Logistic.dualStep(p, m, 1.0, q)
      assert(next >= 0.0 && next <= 1.0)
      if (next > 1e-12 && next < 1.0 - 1e-6) {
        val logit = math.log(next) - math.log1p(-next)
        val error = logit + m + q * (next - p)
        // The error of the terms from the rounding of p alone.
        val rounding = 1e-15 * (1.0 + math.abs(m) + q + 1.0 / (1.0 - next))
        assert(math.abs(error) <= 10.0 * rounding, s"q=$q, m=$m, p=$p: $next leaves $error")
      }
    }
  }

  test("the first round and the optimum of the hinge on the small matrix, by hand") {
    // 6 rows, lambda 0.1, partitions of three rows, sigma' = 2, one epoch in order, by hand.
    val x = GoldenSuite.smallMatrix
    val y = Seq(1.0, -1.0, 1.0, -1.0, 1.0, -1.0)
    val lambda = 0.1
    val p = new Array[Double](6)
    val w = new Array[Double](4)
    for (part <- Seq(0 until 3, 3 until 6)) {
      val u = new Array[Double](4)
      for (i <- part) {
        val z = x(i).zip(u).map { case (a, b) => a * b }.sum
        val q = 2.0 * x(i).map(a => a * a).sum / (lambda * 6)
        val next = Hinge.dualStep(0.0, z, y(i), q)
        p(i) = next * y(i)
        u.indices.foreach(j => u(j) += 2.0 * next * x(i)(j) / (lambda * 6))
      }
      w.indices.foreach(j => w(j) += u(j) / 2.0)
    }
    assert(p.zip(Seq(0.06, 0.15, 0.195, 0.06, 0.084, 0.024)).forall { case (a, b) => math.abs(a - b) < 1e-12 })
    assert(w.zip(Seq(0.705, -0.045, 0.06, -0.31)).forall { case (a, b) => math.abs(a - b) < 1e-12 })
    val primal =
      x.zip(y).map { case (row, label) => Hinge.value(row.zip(w).map { case (a, b) => a * b }.sum, label) }.sum / 6 +
        lambda / 2 * w.map(a => a * a).sum
    assert(math.abs(primal - 0.450770833333) < 1e-11)
    val dual =
      p.zip(y).map { case (v, label) => Hinge.conjugate(v * label, label) }.sum / 6 + lambda / 2 * w.map(a => a * a).sum
    assert(math.abs(primal + dual - 0.3852) < 5e-5, "given to four digits")
  }

  test("a width of the smoothed hinge that is not positive is refused") {
    for (gamma <- Seq(0.0, -1.0, Double.NaN, Double.PositiveInfinity)) {
      assert(intercept[IllegalArgumentException](SmoothedHinge(gamma)).getMessage.contains("gamma"))
    }
  }
}
