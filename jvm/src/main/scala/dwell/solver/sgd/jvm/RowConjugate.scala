package dwell.solver.sgd.jvm

import dwell.base.Arguments
import dwell.solver.problem.{DualFeasibility, Loss, MarginLoss, Softmax}

/**
 * The conjugate l*(-a) of the loss at the dual variables a of the predictions, which the dual numbers of
 * [[dwell.solver.sgd.contract.Evaluate]] make feasible. The multiples of the row are its dual variables.
 */
private[sgd] object RowConjugate {

  /**
   * The conjugate of a loss.
   *
   * @throws IllegalArgumentException
   *   unless `numbers` has as many entries as the loss needs, each in its range
   */
  def apply(loss: Loss, numbers: Array[Double]): RowFunction = {
    val expected = loss.feasibility.numbers
    require(numbers.length == expected, s"${numbers.length} dual numbers, but for the $loss there are $expected")
    loss match {
      case margin: MarginLoss =>
        margin.feasibility match {
          case DualFeasibility.Shift =>
            Arguments.finite("dual numbers", numbers)
            new Shifted(margin, numbers(0))
          case DualFeasibility.ShrinkClass =>
            shares(numbers)
            new Shrunk(margin, numbers(0), numbers(1))
          case DualFeasibility.MixClasses(_) => throw new IllegalArgumentException(s"the $loss has no classes to mix")
        }
      case Softmax(_) =>
        shares(numbers)
        new Mixed(numbers(0), numbers.tail)
    }
  }

  private def shares(numbers: Array[Double]): Unit =
    numbers.find(number => !(number >= 0.0 && number <= 1.0)).foreach { number =>
      throw new IllegalArgumentException(s"dual numbers have $number among them: must be 0 to 1")
    }

  private final class Shifted(loss: MarginLoss, delta: Double) extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val a = -loss.derivative(z(0), y) - delta
      multiples(0) = a
      loss.conjugate(a, y)
    }
  }

  private final class Shrunk(loss: MarginLoss, negative: Double, positive: Double) extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val p = -y * loss.derivative(z(0), y)
      val a = y * ((if (y < 0.0) negative else positive) * p)
      multiples(0) = a
      loss.conjugate(a, y)
    }
  }

  private final class Mixed(eps: Double, r: Array[Double]) extends RowFunction {
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
