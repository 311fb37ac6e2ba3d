package dwell.solver.newton.leader

import dwell.problem.RowLoss

/**
 * The loss of a proximal pass.
 *
 * @param of
 *   the loss with the corner
 * @param gamma
 *   the width of the parabola in its place
 * @param earlier
 *   the models that the dual variables follow from, each with its gamma
 */
private[newton] final case class Corner(of: RowLoss, gamma: Double, earlier: Array[Double]) {

  /** The loss before the corner is shifted. */
  def loss: RowLoss = of.smoothed(gamma)
}
