package dwell.solver.cd.leader

import dwell.jni.MarginLayout
import dwell.problem.InterceptSearch
import dwell.solver.cd.step.StepValue
import dwell.solver.cd.worker.MarginOperation

/**
 * The margins of all rows, in as many slices as there are workers. Sums over the slices are added in order.
 *
 * A margin is the product of the row with the coefficients, plus the intercept that each call gets.
 */
private[leader] abstract class Margins {

  /**
   * Takes the sum of the workers' updates.
   *
   * @param update
   *   one number for each row; null if the workers own the rows and have it already
   */
  def take(update: Array[Double]): Unit

  /**
   * Replaces the products, and forgets the last step.
   *
   * @param product
   *   as for [[take]]
   */
  def restart(product: Array[Double]): Unit

  /** Computes the working residuals. Returns them, little endian; empty if the workers own the rows and have them. */
  def residuals(intercept: Double): Array[Byte]

  /** The time since the last call that the leader has waited for the owners of rows. */
  def waited(): Waited = Waited(0.0, 0.0)

  /** Runs an operation on all slices; returns its sums. */
  protected def run(intercept: Double, operation: MarginOperation): Array[Double]

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
}

private[leader] object Margins {

  /** The sums of all slices, added in order. */
  def total(sums: Array[Array[Double]]): Array[Double] = {
    val totals = new Array[Double](MarginLayout.SUMS)
    sums.foreach(own => own.indices.foreach(i => totals(i) += own(i)))
    totals
  }

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
