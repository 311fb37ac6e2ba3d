package dwell.solver.sgd.jvm

import dwell.solver.problem.{Arguments, Loss, MarginLoss, SgdLoss, Softmax, Squared}

/**
 * The conjugate l*(-a) of the loss at the dual variables a that belong to the predictions, made feasible by the dual
 * numbers of [[dwell.solver.sgd.contract.Evaluate]]; the row counts by its dual variables.
 */
private[sgd] object RowConjugate {

  /** An error unless there are as many numbers as the loss has, in their ranges. */
  def apply(loss: SgdLoss, numbers: Array[Double]): RowFunction = {
    val expected = loss match {
      case MarginLoss(Squared) => 1
      case MarginLoss(_) => 2
      case Softmax(classes) => classes + 1
    }
    require(numbers.length == expected, s"${numbers.length} dual numbers, but for the $loss there are $expected")
    loss match {
      case MarginLoss(Squared) =>
        Arguments.finite("dual numbers", numbers)
        new OfResidual(numbers(0))
      case _ =>
        numbers.find(number => !(number >= 0.0 && number <= 1.0)).foreach { number =>
          throw new IllegalArgumentException(s"dual numbers have $number among them: must be 0 to 1")
        }
        loss match {
          case MarginLoss(margin) => new OfMargin(margin, numbers(0), numbers(1))
          case Softmax(_) => new OfClasses(numbers(0), numbers.tail)
        }
    }
  }

  private final class OfResidual(delta: Double) extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val a = (y - z(0)) - delta
      multiples(0) = a
      Squared.conjugate(a, y)
    }
  }

  private final class OfMargin(loss: Loss, negative: Double, positive: Double) extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val p = -y * loss.derivative(z(0), y)
      val a = y * ((if (y < 0.0) negative else positive) * p)
      multiples(0) = a
      loss.conjugate(a, y)
    }
  }

  private final class OfClasses(eps: Double, r: Array[Double]) extends RowFunction {
    private val q = new Array[Double](r.length)

    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val label = y.toInt
      RowLoss.probabilities(z, RowLoss.greatest(z), q)
      var conjugate = 0.0
      var c = 0
      while (c < q.length) {
        val mixed = (1.0 - eps) * q(c) + eps * r(c)
        multiples(c) = (if (c == label) 1.0 else 0.0) - mixed
        if (mixed != 0.0) conjugate += mixed * StrictMath.log(mixed)
        c += 1
      }
      conjugate
    }
  }
}
