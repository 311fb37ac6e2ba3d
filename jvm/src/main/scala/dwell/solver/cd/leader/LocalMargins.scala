package dwell.solver.cd.leader

import dwell.base.{LittleEndian, SliceBounds}
import dwell.fit.SolverSettings
import dwell.jni.MarginLayout
import dwell.problem.MarginLoss
import dwell.solver.cd.worker.{MarginOperation, MarginSlice, NativeCd, RowsRead}

/**
 * The margins of all rows, which the leader holds.
 *
 * @param read
 *   labels and weights of each slice
 * @param origin
 *   see [[MarginSlice.of]]
 */
private[leader] final class LocalMargins(
    loss: MarginLoss,
    origin: Double,
    read: Array[RowsRead],
    settings: SolverSettings)
    extends Margins {

  private val slices = read.map(own => MarginSlice.of(own.labels, own.weights, loss, origin))
  private val rows = SliceBounds(slices.map(_.rows).sum, slices.length)

  override def take(update: Array[Double]): Unit = copy(update)(_.update)

  override def restart(product: Array[Double]): Unit = {
    copy(product)(_.margins)
    slices.foreach(slice => java.util.Arrays.fill(slice.direction, 0.0))
  }

  override def residuals(intercept: Double): Array[Byte] = {
    run(intercept, MarginOperation(MarginLayout.RESIDUALS))
    val bytes = new Array[Byte](8 * rows.length)
    val view = LittleEndian.view(bytes)
    slices.foreach(slice => view.put(slice.residuals))
    bytes
  }

  override protected def run(intercept: Double, operation: MarginOperation): Array[Double] =
    Margins.total(slices.map(NativeCd.margins(loss, intercept, operation, _, settings.threads)))

  private def copy(values: Array[Double])(to: MarginSlice => Array[Double]): Unit =
    slices.indices.foreach(k => System.arraycopy(values, rows.start(k), to(slices(k)), 0, slices(k).rows))
}
