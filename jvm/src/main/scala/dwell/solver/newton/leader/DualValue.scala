package dwell.solver.newton.leader

/**
 * A lower bound of the objective from the dual variables that the margins of a pass give, p_i = -y_i l'(z_i), for losses of two classes
 * with l*(-y p) = -p + curvature p^2 / 2 and an L2 penalty on every coefficient that moves:
 *
 * {{{
 *   F* >= (1/S) sum_i s_i (k p_i - curvature k^2 p_i^2 / 2) - k^2 sum_j v_j^2 / (2 l2_j),   v = (1/S) sum_i s_i y_i p_i x~_i
 * }}}
 *
 * for any k in 0 to 1, of which the best one is taken.
 *
 * With an intercept the variables of both classes must have the same sum. The larger sum is scaled down to the smaller one by a factor
 * 1 - t, which changes v_j by at most t times the root of mean p^2 and mean x~_j^2 (Cauchy and Schwarz). Near the optimum of the intercept t is rounding.
 *
 * @param secondMoments
 *   mean of the square of each centred feature
 */
private[newton] final class DualValue private (
    curvature: Double,
    model: QuadraticModel,
    shape: ModelShape,
    secondMoments: Array[Double]) {

  /** The bound that a pass gives, from the variables of its gradient. */
  def at(passed: PassOutcome): Double = {
    val sums = passed.slopes
    val squares = passed.slopeSquares
    val heavier = if (sums(1) > sums(0)) 1 else 0
    val cut = if (shape.hasIntercept && sums(heavier) > 0.0) 1.0 - sums(1 - heavier) / sums(heavier) else 0.0
    val kept = 1.0 - cut
    val gain = sums(1 - heavier) + kept * sums(heavier)
    val spread = cut * math.sqrt(squares(heavier))
    var cost = 0.5 * curvature * (squares(1 - heavier) + kept * kept * squares(heavier))
    var j = 0
    while (j < shape.features) {
      if (!model.fixed(j)) {
        val v = math.abs(passed.vector(j)) + spread * math.sqrt(secondMoments(j))
        cost += v * v / (2.0 * model.l2(j))
      }
      j += 1
    }
    val k = if (gain >= 2.0 * cost) 1.0 else 0.5 * gain / cost
    k * (gain - k * cost)
  }
}

private[newton] object DualValue {

  /** The bound of the hinge, from its passes with other corners: its variables are between 0 and 1 there, too. */
  def ofHinge(task: NewtonTask, model: QuadraticModel, first: PassOutcome): DualValue =
    new DualValue(0.0, model, task.shape, first.secondMoments)

  /** The bound of a task whose loss has it. */
  def of(task: NewtonTask, model: QuadraticModel, first: PassOutcome): Option[DualValue] =
    task.loss.conjugateCurvature.map { curvature =>
      new DualValue(curvature, model, task.shape, first.secondMoments)
    }
}
