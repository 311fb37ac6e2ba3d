package dwell.problem

import dwell.LimitedSuite

/** The losses and their derivatives. */
class LossSuite extends LimitedSuite {
  import DualFormulas.{conjugate, losses}

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
    assert(Squared.value(3.0, 1.0) == 2.0)
    assert(Logistic.value(0.0, 1.0) == math.log(2.0))
    assert(math.abs(Logistic.value(1.0, 1.0) - 0.31326168751822286) < 1e-16)
    assert(math.abs(Logistic.value(-40.0, 1.0) - 40.0) < 1e-14 && Logistic.value(800.0, 1.0) < 1e-307)
    assert(Logistic.value(-800.0, 1.0) == 800.0)
    assert(Hinge.value(0.25, 1.0) == 0.75 && Hinge.value(0.25, -1.0) == 1.25 && Hinge.value(2.0, 1.0) == 0.0)
    assert(Hinge.derivative(1.0, 1.0) == 0.0, "at the corner")
    val smoothed = SmoothedHinge(0.5)
    assert(Seq(-1.0, 0.5, 0.75, 1.0, 2.0).map(smoothed.value(_, 1.0)) == Seq(1.75, 0.25, 0.0625, 0.0, 0.0))
    assert(SquaredHinge.value(-1.0, 1.0) == 4.0)
    assert(losses.map(_.curvature) == Seq(1.0, 0.25, Double.PositiveInfinity, 2.0, 2.0))
    assert(losses.map(_.code) == Seq(0, 1, 2, 3, 4))
  }

  for (loss <- losses) {
    test(s"$loss: Fenchel-Young, with equality at the derivative") {
      for (y <- labels(loss); z <- predictions) {
        for (a <- domain(loss, y)) {
          assert(loss.value(z, y) + conjugate(loss, a, y) + a * z >= -1e-13 * (1.0 + math.abs(a * z)))
        }
        val a = -loss.derivative(z, y)
        val rest = loss.value(z, y) + conjugate(loss, a, y) + a * z
        assert(math.abs(rest) < 1e-12 * (1.0 + math.abs(a * z)), s"z=$z, y=$y")
      }
      loss.feasibility match {
        case DualFeasibility.ShrinkClass(ofOne) => labels(loss).foreach(y => assert(ofOne == conjugate(loss, y, y)))
        case other => assert(other == DualFeasibility.Shift && loss == Squared)
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
        val rise = (loss.derivative(z + h, y) - loss.derivative(z - h, y)) / (2.0 * h)
        assert(rise >= -1e-9 && rise <= loss.curvature * (1.0 + 1e-9))
        loss match {
          case signed: SignedLoss if Seq(0.0, loss.parameter).forall(at => math.abs(1.0 - y * z - at) > 2 * h) =>
            assert(math.abs(rise - signed.secondDerivative(z, y)) < 1e-5, s"z=$z, y=$y")
          case _ =>
        }
      }
    }
  }

  test("a width of the smoothed hinge that is not positive, and a softmax of one class, are refused") {
    for (gamma <- Seq(0.0, -1.0, Double.NaN, Double.PositiveInfinity)) {
      assert(intercept[IllegalArgumentException](SmoothedHinge(gamma)).getMessage.contains("gamma"))
    }
    assert(intercept[IllegalArgumentException](Softmax(1)).getMessage.contains("classes"))
  }
}
