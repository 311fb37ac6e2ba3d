package dwell.solver.cd.jvm

import dwell.jni.MarginLayout
import dwell.solver.cd.contract.{MarginOperation, MarginSlice}
import dwell.solver.problem.MarginLoss

/** Operations on a slice of rows, with the arithmetic and the order of the native ones. */
private[jvm] final class JvmMargins(
    loss: MarginLoss,
    intercept: Double,
    operation: MarginOperation,
    slice: MarginSlice) {
  import slice._

  private val MarginOperation(code, first, second) = operation
  private val factor = -1.0 / loss.curvature
  private val totals = new Array[Double](MarginLayout.SUMS)

  /** The sums of a block, by sum and lane: the term of row j goes to lane j modulo the number of lanes. */
  private val lanes = Array.ofDim[Double](MarginLayout.SUMS, JvmMargins.Lanes)

  /** Runs the operation; returns its sums. */
  def run(): Array[Double] = {
    var from = 0
    while (from < rows) {
      val until = math.min(rows, from + MarginLayout.BLOCK)
      var j = from
      while (j < until) {
        row(j)
        j += 1
      }
      addLanes()
      from = until
    }
    totals
  }

  private def row(j: Int): Unit = {
    val z = margins(j) + intercept
    val y = labels(j)
    code match {
      case MarginLayout.RESIDUALS => residuals(j) = factor * loss.derivative(z, y)
      case MarginLayout.LOSSES =>
        val slope = loss.derivative(z, y)
        losses(j) = loss.value(z, y)
        add(j, MarginLayout.LOSS, losses(j))
        add(j, MarginLayout.SLOPE_SQUARES, slope * slope)
        add(j, MarginLayout.SLOPE_LABELS, slope * y)
      case MarginLayout.SLOPES =>
        val slope = loss.derivative(z, y)
        add(j, MarginLayout.SLOPE, slope)
        add(j, MarginLayout.SLOPE_SIZES, math.abs(slope))
        add(j, MarginLayout.CURVE, loss.secondDerivative(z, y))
      case MarginLayout.ALONG =>
        val u = update(j)
        val d = direction(j)
        val there = z + (first * u + second * d)
        val slope = loss.derivative(there, y)
        val curve = loss.secondDerivative(there, y)
        add(j, MarginLayout.CHANGE, loss.value(there, y) - losses(j))
        add(j, MarginLayout.SLOPE1, slope * u)
        add(j, MarginLayout.SLOPE2, slope * d)
        add(j, MarginLayout.CURVE11, curve * u * u)
        add(j, MarginLayout.CURVE12, curve * u * d)
        add(j, MarginLayout.CURVE22, curve * d * d)
      case MarginLayout.CONJUGATES =>
        val slope = loss.derivative(z, y)
        add(j, MarginLayout.CONJUGATE1, loss.conjugate(-first * slope, y))
        add(j, MarginLayout.CONJUGATE2, loss.conjugate(-second * slope, y))
      case MarginLayout.MOVE =>
        direction(j) = first * update(j) + second * direction(j)
        margins(j) += direction(j)
      case _ => throw new IllegalArgumentException(s"there is no operation $code on margins")
    }
  }

  private def add(j: Int, sum: Int, term: Double): Unit =
    lanes(sum)(j % JvmMargins.Lanes) += (if (weights == null) term else weights(j) * term)

  private def addLanes(): Unit = lanes.indices.foreach { sum =>
    val l = lanes(sum)
    totals(sum) += ((l(0) + l(1)) + (l(2) + l(3))) + ((l(4) + l(5)) + (l(6) + l(7)))
    java.util.Arrays.fill(l, 0.0)
  }
}

private object JvmMargins {
  private val Lanes = 8
}
