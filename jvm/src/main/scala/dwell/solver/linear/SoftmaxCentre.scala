package dwell.solver.linear

/** Chooses among the models that the softmax does not tell apart. */
object SoftmaxCentre {

  /**
   * The equivalent model whose coefficients of a feature, and intercepts, have mean 0 over the classes, as in Spark: adding a
   * number to all coefficients of a feature does not change the softmax. Centring gives the smallest L2 penalty. It could raise
   * an L1 penalty, so with one only the intercepts are centred; and it could leave bounds, so what has one stays.
   *
   * @param model
   *   coefficients, then intercepts, laid out as in [[LinearSolution]]
   */
  def apply(problem: LinearProblem, model: Array[Double]): Array[Double] = {
    val outputs = problem.loss.outputs
    if (outputs == 1) model
    else {
      val result = model.clone()
      val numFeatures = model.length / outputs - 1
      var j = if (problem.penalty.l1 > 0.0) numFeatures else 0
      while (j <= numFeatures) {
        val row = j * outputs until (j + 1) * outputs
        if (!problem.bounds.exists(_.hold(row))) {
          val mean = row.map(result(_)).sum / outputs
          row.foreach(result(_) -= mean)
        }
        j += 1
      }
      result
    }
  }
}
