package dwell.solver.newton.leader

/**
 * A lower bound of the objective for the loss of Huber with its scale, and an L2 penalty or none. The loss is the maximum of
 * a r + sigma (1 - a^2) / 2 over |a| <= epsilon, so that dual variables a_i of the rows give
 *
 * {{{
 *   F* >= (1/S) sum_i s_i a_i y_i - sum_j v_j^2 / (2 l2_j)    if  |a_i| <= epsilon,  (1/S) sum_i s_i a_i^2 <= 1,
 *                                                                v = (1/S) sum_i s_i a_i x~_i,  and v_j = 0 where l2_j = 0
 * }}}
 *
 * From the variables of a pass, its Newton step d takes rows with |r_i| <= epsilon sigma to a_i - row_i'd / sigma, where row_i = (x~_i, 1, a_i) as
 * in the Hessian M. By the equations of the step, v becomes l2 (w + d), the intercept's condition holds, and the mean square is
 * 1 + d'Md / sigma. What is left is a factor k for all of them, with L the mean loss of the pass:
 *
 * {{{
 *   F* >= k [ L + sum_j l2_j w_j (w_j + d_j) ] - k^2 sum_j l2_j (w_j + d_j)^2 / 2
 *   k = min( 1 / sqrt(1 + d'Md / sigma),  epsilon / (epsilon + max_i |row_i'd| / sigma) )
 * }}}
 *
 * The pass after the step finds how far the step takes a row at most.
 *
 * @param epsilon
 *   of the loss
 */
private[newton] final class ScaleBound(epsilon: Double, model: QuadraticModel, shape: ModelShape) {

  /** What a pass has to be asked for: a row's entries are x~, 1, and at most epsilon. */
  def reach(step: Array[Double]): Array[Double] = {
    val sizes = step.map(math.abs)
    sizes(shape.scale) = 0.0
    sizes
  }

  /**
   * The bound.
   *
   * @param passed
   *   the pass at the model
   * @param at
   *   the model
   * @param best
   *   the step from it
   * @param reached
   *   what the pass after it has found for [[reach]]
   */
  def at(passed: PassOutcome, at: Array[Double], best: QuadraticStep, reached: Double): Double = {
    val sigma = at(shape.scale)
    var (linear, square, penalised) = (0.0, 0.0, 0.0)
    var j = 0
    while (j < shape.features) {
      val moved = at(j) + best.step(j)
      linear += model.l2(j) * at(j) * moved
      square += 0.5 * model.l2(j) * moved * moved
      penalised += model.l2(j) * best.step(j) * best.step(j)
      j += 1
    }
    val curved = math.max(0.0, best.slope * best.slope - penalised)
    val farthest = reached + epsilon * math.abs(best.step(shape.scale))
    val k = math.min(1.0 / math.sqrt(1.0 + curved / sigma), epsilon / (epsilon + farthest / sigma))
    k * (passed.loss + linear) - k * k * square
  }
}

private[newton] object ScaleBound {

  /** The bound of a task whose loss has a scale. */
  def of(task: NewtonTask, model: QuadraticModel): Option[ScaleBound] =
    task.loss.epsilon.map(new ScaleBound(_, model, task.shape))
}
