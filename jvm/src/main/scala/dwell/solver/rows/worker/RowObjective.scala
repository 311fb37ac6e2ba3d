package dwell.solver.rows.worker

import dwell.problem.{Penalty, RowLoss}

/**
 * The objective, over coefficients w (one for each feature j and output c) and intercepts b (one for each output):
 *
 * {{{
 *   (1/S) sum_i s_i l(x_i^T w + b; y_i) + l1 sum_jc u_j |w_jc| + (l2/2) sum_jc u_j^2 w_jc^2,   u_j = 1 / sqrt(scale_j)
 * }}}
 *
 * with row weights s, their sum S over all rows, and the scale of [[dwell.data.RowData]]. A feature of scale 0 is
 * constant: it has no entries, and its coefficients stay 0.
 *
 * @param penalty
 *   l1 and l2 are finite and at least 0; the data hold the scale
 * @param intercept
 *   whether there are intercepts; they are not penalised
 * @param weightFactor
 *   m / S, the number of all rows over the sum of their weights, finite and positive. It makes the length of steps
 *   independent of the unit of the weights
 */
final case class RowObjective(loss: RowLoss, penalty: Penalty, intercept: Boolean, weightFactor: Double)
