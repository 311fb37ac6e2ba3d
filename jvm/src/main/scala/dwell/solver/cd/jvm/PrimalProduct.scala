package dwell.solver.cd.jvm

import dwell.base.Patience
import dwell.data.ColumnData
import dwell.solver.cd.contract.PrimalSubproblem

/** The product of a partition's (centred) columns with its coefficients. */
private[solver] final class PrimalProduct(
    data: ColumnData,
    problem: PrimalSubproblem,
    penalty: ElasticNet,
    patience: Patience)
    extends LocalProduct(data, data.kernel, penalty, patience) {

  override protected def add(i: Int, a: Double): Double = {
    kernel.add(i, a, null, v)
    if (problem.centred) a * data.partition.mean(i) else 0.0
  }

  override protected def entry(v: Double, kappa: Double): Double = if (problem.centred) v - kappa else v
}
