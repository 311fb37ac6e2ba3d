package dwell.solver.cd.leader

import dwell.base.LittleEndian
import dwell.data.columns.RowSlices
import dwell.fit.SolverSettings
import dwell.jni.MarginLayout
import dwell.solver.cd.contract.{MarginOperation, MarginSlice}
import dwell.solver.cd.worker.CdSolvers
import dwell.solver.problem.{InterceptSearch, MarginLoss}

/**
 * The margins of all rows, in as many slices as there are workers. Sums are those of the slices, added in order.
 *
 * A margin is the product of the row with the coefficients, plus the intercept that each call gets.
 *
 * @param labels
 *   y, one for each row
 * @param weights
 *   row weights, or null if every weight is 1
 */
private[leader] final class Margins(
    loss: MarginLoss,
    labels: Array[Double],
    weights: Array[Double],
    workers: Int,
    settings: SolverSettings) {

  private val solver = CdSolvers.stateless(settings.selection)
  private val rows = new RowSlices(labels.length, workers)
  private val slices = Array.tabulate(workers) { k =>
    def own(values: Array[Double]) = java.util.Arrays.copyOfRange(values, rows.start(k), rows.start(k + 1))
    new MarginSlice(own(labels), if (weights == null) null else own(weights))
  }

  /** Takes the sum of the workers' updates, one number for each row. */
  def take(update: Array[Double]): Unit = copy(update)(_.update)

  /** Replaces the products, and forgets the last step. */
  def restart(product: Array[Double]): Unit = {
    copy(product)(_.margins)
    slices.foreach(slice => java.util.Arrays.fill(slice.direction, 0.0))
  }

  /** The working residuals, little endian. */
  def residuals(intercept: Double): Array[Byte] = {
    run(intercept, MarginOperation(MarginLayout.RESIDUALS))
    val bytes = new Array[Byte](8 * labels.length)
    val view = LittleEndian.view(bytes)
    slices.foreach(slice => view.put(slice.residuals))
    bytes
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

  private def run(intercept: Double, operation: MarginOperation): Array[Double] = {
    val totals = new Array[Double](MarginLayout.SUMS)
    slices.foreach { slice =>
      val sums = solver.margins(loss, intercept, operation, slice, settings.threads)
      sums.indices.foreach(i => totals(i) += sums(i))
    }
    totals
  }

  private def copy(values: Array[Double])(to: MarginSlice => Array[Double]): Unit =
    slices.indices.foreach(k => System.arraycopy(values, rows.start(k), to(slices(k)), 0, slices(k).rows))
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
