package dwell.solver.cd.jvm

import dwell.base.Patience
import dwell.data.RowData
import dwell.solver.cd.contract.{DualSubproblem, RoundRequest, WorkerState}

/**
 * One round of dual CoCoA on the rows of one partition, for any loss l. With coefficients w, row weights s, the inverse
 * penalties D = diag(scale) and t_i = s_i / (S l2) it improves
 *
 * {{{
 *   sum_i s_i l*(-a_i; y_i) / S + w^T X^T (t (a - alpha)) l2 + sigma' l2 |X^T (t (a - alpha))|_D^2 / 2
 * }}}
 *
 * over the partition's dual variables a by coordinate descent. The coefficients follow the dual variables: a step of
 * a_i adds t_i (a_i' - a_i) D x_i to them. Descent adds sigma' times as much, as if the other partitions made the same
 * step.
 *
 * With an intercept, features are implicitly centred, and the intercept is one more feature, of constant value and
 * weight nu. A step of a_i then changes the prediction of row k by c times
 *
 * {{{
 *   (x_i - mean)^T D (x_k - mean) + nu = x_i^T D x_k - e_i - e_k + h,   e_i = mean^T D x_i,   h = mean^T D mean + nu
 * }}}
 *
 * so two sums over the steps, of c and of c e_i, describe everything that the coefficients do not contain.
 */
private[solver] final class DualRound(
    data: RowData,
    problem: DualSubproblem,
    r: RoundRequest,
    shared: Array[Byte],
    start: WorkerState,
    conjugates: Conjugates,
    patience: Patience)
    extends LocalRound(data, r, shared, start, data.kernel, conjugates, patience) {
  private val p = data.partition
  private val loss = problem.loss
  private val projections = p.projections

  // The first running sum is that of c = sigma' t_i (a_i' - a_i), the second that of c e_i.

  override protected def kappa: Double = sums.first / r.sigmaPrime

  override protected def loaded(j: Int, entry: Double): Double = entry

  override protected def begin(): Unit = ()

  override protected def visit(i: Int, seen: LocalVector, moved: LocalVector, copies: Double): Unit = {
    val multiple = (r.sigmaPrime * copies) * conjugates.t(i)
    var z = kernel.dot(i, seen.w)
    var norm = p.norms(i)
    if (projections == null) z += problem.offset
    else {
      val e = projections(i)
      z = z + ((problem.offset + seen.sums.first * problem.intercept) - seen.sums.second) - seen.sums.first * e
      // Cancellation must not make a square norm negative.
      norm = math.max(0.0, norm - 2.0 * e + problem.intercept)
    }
    // Without curvature the step leads to minus the derivative of the loss.
    val updated = loss.dualStep(a(i), z, p.labels(i), if (problem.gradient) 0.0 else multiple * norm)
    if (updated != a(i)) {
      val c = multiple * (updated - a(i))
      a(i) = updated
      kernel.add(i, c, data.scale, moved.w)
      moved.sums.first += c
      if (projections != null) moved.sums.second += c * projections(i)
    }
  }

  /** The primal loss at the start's coefficients, with each of the candidates for the intercept. */
  override protected def certify(): Certificate = {
    val candidates = problem.candidates
    val losses = new Array[Double](candidates.length)
    Separable.inChunks(p.numRows) { (start, end) =>
      val sums = new Array[Double](candidates.length)
      var i = start
      while (i < end) {
        val margin = kernel.dot(i, w)
        var c = 0
        while (c < sums.length) {
          sums(c) += conjugates.share(i) * loss.value(margin + candidates(c), p.labels(i))
          c += 1
        }
        patience.spend(kernel.length(i) + sums.length)
        i += 1
      }
      sums.indices.foreach(c => losses(c) += sums(c))
    }
    Certificate.ofLosses(losses)
  }

  override protected def update(j: Int, before: Double): Double = (w(j) - before) / r.sigmaPrime
}
