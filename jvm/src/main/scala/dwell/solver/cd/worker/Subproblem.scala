package dwell.solver.cd.worker

import dwell.data.LocalData
import dwell.problem.{MarginLoss, Penalty}

/** The part of a local problem that differs between the orientations. */
sealed trait Subproblem extends Serializable

/** Errors of local problems. */
object Subproblem {

  /** Refuses data that are not in the orientation of a problem. */
  private[cd] def mismatch(data: LocalData, problem: Subproblem): Nothing = throw new IllegalArgumentException(
    s"partition ${data.index} holds ${data.getClass.getSimpleName}, which ${problem.getClass.getSimpleName} is not for: " +
      "columns go with the primal problem, rows with the dual one")
}

/**
 * Coefficients of the columns, for least squares: g_i(a) = l1_i |a| + l2_i a^2 / 2 is the penalty. For a smooth loss
 * with curvature bound d the caller shares r = -l'(z) / d instead of the residual, and divides both penalties by d.
 *
 * @param penalty
 *   before standardisation
 * @param centred
 *   whether columns and label are centred implicitly, which makes the intercept exact
 */
final case class PrimalSubproblem(penalty: Penalty, centred: Boolean) extends Subproblem

/**
 * Dual variables of the rows, for any loss and a penalty with an L2 part.
 *
 * @param l2
 *   L2 penalty, positive; the scale of [[dwell.data.RowData]] holds the differences between features
 * @param intercept
 *   h = mean^T diag(scale) mean + nu, the constant part of the product of two centred rows, with the intercept as a
 *   feature of weight nu; 0 without intercept
 * @param offset
 *   intercept at the start of the round
 * @param candidates
 *   intercepts at which a certificate evaluates the primal loss; at most [[dwell.jni.CdLayout.MAX_CANDIDATES]]
 */
final case class DualSubproblem(
    loss: MarginLoss,
    l2: Double,
    intercept: Double,
    offset: Double,
    candidates: Array[Double])
    extends Subproblem
