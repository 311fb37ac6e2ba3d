package dwell.solver.cd.jvm

import dwell.base.Patience
import dwell.data.RowData

/** The contribution of a partition's dual variables to the coefficients, before any soft threshold. */
private[solver] final class DualProduct(data: RowData, conjugates: Conjugates, patience: Patience)
    extends LocalProduct(data, data.kernel, conjugates, patience) {

  override protected def add(i: Int, a: Double): Double = {
    val multiple = conjugates.t(i) * a
    kernel.add(i, multiple, data.scale, v)
    multiple
  }

  override protected def entry(v: Double, kappa: Double): Double = v
}
