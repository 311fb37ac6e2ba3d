package dwell.solver.sgd.jvm

import dwell.solver.problem.{Loss, MarginLoss, Softmax}

/** A function of the predictions of a row. */
private[sgd] trait RowFunction {

  /**
   * The value at the predictions `z` for the label `y`. Sets `multiples`, one number for each output, by which the row
   * enters the vector of a result.
   */
  def at(z: Array[Double], y: Double, multiples: Array[Double]): Double
}

/** The loss. The multiples of the row are its derivatives by the predictions. */
private[sgd] object RowLoss {

  /** The function of a loss. */
  def apply(loss: Loss): RowFunction = loss match {
    case margin: MarginLoss => new OfMargin(margin)
    case Softmax(_) => OfClasses
  }

  private final class OfMargin(loss: MarginLoss) extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      multiples(0) = loss.derivative(z(0), y)
      loss.value(z(0), y)
    }
  }

  private object OfClasses extends RowFunction {
    override def at(z: Array[Double], y: Double, multiples: Array[Double]): Double = {
      val label = y.toInt
      val top = greatest(z)
      val others = probabilities(z, top, multiples)
      multiples(label) -= 1.0
      // In this form a small loss keeps its digits.
      (z(top) - z(label)) + StrictMath.log1p(others)
    }
  }

  /** The class of the greatest prediction, the first one in a tie. */
  def greatest(z: Array[Double]): Int = {
    var top = 0
    var c = 1
    while (c < z.length) {
      if (z(c) > z(top)) top = c
      c += 1
    }
    top
  }

  /**
   * Sets `q` to the probabilities of the classes, and returns the sum of e^{z_c - z_top} over all classes except `top`.
   */
  def probabilities(z: Array[Double], top: Int, q: Array[Double]): Double = {
    var others = 0.0
    var c = 0
    while (c < z.length) {
      q(c) = StrictMath.exp(z(c) - z(top))
      if (c != top) others += q(c)
      c += 1
    }
    val total = 1.0 + others
    c = 0
    while (c < z.length) {
      q(c) /= total
      c += 1
    }
    others
  }
}
