package dwell.solver.cd.jvm

import dwell.base.Patience
import dwell.data.RowData

/** The coefficients (before any soft threshold) that a partition's dual variables stand for. */
private[solver] final class DualProduct(data: RowData, conjugates: Conjugates, patience: Patience)
    extends LocalProduct(data, data.kernel, conjugates, patience) {

  override protected def add(i: Int, a: Double): Double = {
    val multiple = conjugates.t(i) * a
    kernel.add(i, multiple, data.scale, v)
    multiple
  }

  override protected def entry(v: Double, kappa: Double): Double = v
}
