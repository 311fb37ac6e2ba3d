package dwell.solver.cd.jvm

import dwell.base.Patience
import dwell.data.ColumnData
import dwell.solver.cd.contract.{PrimalSubproblem, RoundRequest, WorkerState}

/**
 * One round of primal CoCoA on the columns of one partition, squared loss. With residual r, row weights s and
 * committed coefficients alpha it improves
 *
 * {{{
 *   sigma' |A (a - alpha)|_s^2 / (2 S) - r^T A (a - alpha) / S + sum_i g_i(a_i)
 * }}}
 *
 * over the partition's coefficients a by coordinate descent. Centring is implicit: the round does not subtract the
 * means from the columns, but keeps the sum of their contributions in one number, `kappa`.
 */
private[solver] final class PrimalRound(
    data: ColumnData,
    problem: PrimalSubproblem,
    r: RoundRequest,
    shared: Array[Byte],
    start: WorkerState,
    penalty: ElasticNet,
    patience: Patience)
    extends LocalRound(data, r, shared, start, data.kernel, penalty, patience) {
  import PrimalRound.quotient

  private val p = data.partition
  private val weights = data.weights
  private val inverseWeight = 1.0 / r.totalWeight

  // w is s * (r - sigma' A (a - alpha)) for uncentred columns. The first running sum is kappa; the second is unused.

  /** Sum of `w` before the first step. */
  private var weightedSum = 0.0

  override protected def kappa: Double = sums.first

  override protected def loaded(j: Int, entry: Double): Double = if (weights == null) entry else weights(j) * entry

  override protected def begin(): Unit = {
    var j = 0
    while (j < w.length) {
      weightedSum += w(j)
      j += 1
    }
  }

  override protected def visit(i: Int, seen: LocalVector, moved: LocalVector, copies: Double): Unit = {
    val sigma = r.sigmaPrime * copies
    var dot = kernel.dot(i, seen.w)
    if (problem.centred) dot += p.mean(i) * ((r.sigmaPrime * seen.sums.first) * r.totalWeight - weightedSum)
    val updated = penalty.minimise(i, curvature(i, sigma), a(i), dot * inverseWeight)
    val change = updated - a(i)
    if (change != 0.0) {
      a(i) = updated
      kernel.add(i, -(sigma * change), weights, moved.w)
      if (problem.centred) moved.sums.first += copies * (change * p.mean(i))
    }
  }

  /** Second derivative of the smooth part along coordinate i. */
  private def curvature(i: Int, sigma: Double): Double =
    if (problem.centred) sigma * p.variance(i) else sigma * (p.variance(i) + p.mean(i) * p.mean(i))

  override protected def certify(): Certificate = {
    var conjugate = 0.0
    var ratio = 0.0
    var correlation = 0.0
    Separable.inChunks(p.numColumns) { (start, end) =>
      var sum = 0.0
      var i = start
      while (i < end) {
        var dot = kernel.dot(i, w)
        if (problem.centred) dot += p.mean(i) * -weightedSum
        val x = dot * inverseWeight
        val size = math.abs(x)
        sum += penalty.conjugate(i, x)
        ratio = math.max(ratio, quotient(size, penalty.l1(i)))
        correlation = math.max(correlation, quotient(size, math.sqrt(curvature(i, r.sigmaPrime) / r.sigmaPrime)))
        patience.spend(kernel.length(i))
        i += 1
      }
      conjugate += sum
    }
    Certificate(conjugate, ratio, correlation, Array.emptyDoubleArray)
  }

  override protected def update(j: Int, before: Double): Double = {
    var u = (before - w(j)) / r.sigmaPrime
    if (weights != null) u /= weights(j)
    if (problem.centred) u - kappa else u
  }
}

private[solver] object PrimalRound {

  /** `x / scale`, with 0 / 0 = 0. */
  private def quotient(x: Double, scale: Double): Double = if (x == 0.0) 0.0 else x / scale
}
