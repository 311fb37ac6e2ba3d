package dwell.solver.cd.leader

import dwell.base.LittleEndian
import dwell.jni.MarginLayout
import dwell.problem.{InterceptSearch, MarginLoss}
import dwell.solver.cd.step.StepValue
import dwell.solver.cd.worker.{MarginOperation, MarginRows, NativeCd, RowsRead}

/**
 * The margins of all rows. A margin is the product of the row with the coefficients, plus the intercept that each call
 * gets.
 *
 * @param read
 *   labels and weights, slice by slice
 * @param origin
 *   see [[MarginRows.of]]
 */
private[leader] final class Margins(loss: MarginLoss, origin: Double, read: Array[RowsRead], threads: Int) {

  private val rows = MarginRows.of(
    read.flatMap(_.labels),
    if (read.exists(_.weights == null)) null else read.flatMap(_.weights),
    loss,
    origin)

  /** Takes the sum of the workers' updates, one number for each row. */
  def take(update: Array[Double]): Unit = copy(update, rows.update)

  /** Replaces the products, and forgets the last step. */
  def restart(product: Array[Double]): Unit = {
    copy(product, rows.margins)
    java.util.Arrays.fill(rows.direction, 0.0)
  }

  /** Computes the working residuals, little endian. */
  def residuals(intercept: Double): Array[Byte] = {
    run(intercept, MarginOperation(MarginLayout.RESIDUALS))
    LittleEndian.bytes(rows.residuals)
  }

  /** Evaluates the losses. They are the ones that [[along]] compares with. */
  def losses(intercept: Double): Margins.Losses = {
    val sums = run(intercept, MarginOperation(MarginLayout.LOSSES))
    Margins.Losses(sums(MarginLayout.LOSS), sums(MarginLayout.SLOPE_SQUARES), sums(MarginLayout.SLOPE_LABELS))
  }

  /** The derivatives of the sum of the losses by the intercept. */
  def slope(intercept: Double): InterceptSearch.Slope = {
    val sums = run(intercept, MarginOperation(MarginLayout.SLOPES))
    InterceptSearch.Slope(sums(MarginLayout.SLOPE), sums(MarginLayout.SLOPE_SIZES), sums(MarginLayout.CURVE))
  }

  /** The change of the sum of the losses by a step along the update (g1) and the last step (g2). */
  def along(intercept: Double, g1: Double, g2: Double): StepValue = {
    val sums = run(intercept, MarginOperation(MarginLayout.ALONG, g1, g2))
    StepValue(
      sums(MarginLayout.CHANGE),
      sums(MarginLayout.SLOPE1),
      sums(MarginLayout.SLOPE2),
      sums(MarginLayout.CURVE11),
      sums(MarginLayout.CURVE12),
      sums(MarginLayout.CURVE22))
  }

  /** The sums of the conjugates of the losses at rho times minus their derivatives, for two rho. */
  def conjugates(intercept: Double, rho1: Double, rho2: Double): (Double, Double) = {
    val sums = run(intercept, MarginOperation(MarginLayout.CONJUGATES, rho1, rho2))
    (sums(MarginLayout.CONJUGATE1), sums(MarginLayout.CONJUGATE2))
  }

  /** Makes a step along the update (g1) and the last step (g2). */
  def move(g1: Double, g2: Double): Unit = {
    run(0.0, MarginOperation(MarginLayout.MOVE, g1, g2))
    ()
  }

  /** Runs an operation; returns its sums. */
  private def run(intercept: Double, operation: MarginOperation): Array[Double] =
    NativeCd.margins(loss, intercept, operation, rows, threads)

  private def copy(values: Array[Double], to: Array[Double]): Unit =
    System.arraycopy(values, 0, to, 0, values.length)
}

private[leader] object Margins {

  /**
   * Sums over the rows, each term times the row's weight.
   *
   * @param loss
   *   of the losses
   * @param slopeSquares
   *   of their squared derivatives
   * @param slopeLabels
   *   of their derivatives times the labels
   */
  final case class Losses(loss: Double, slopeSquares: Double, slopeLabels: Double)
}
