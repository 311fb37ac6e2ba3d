package dwell.solver.linear

/** Chooses among the models that the softmax does not tell apart. */
object SoftmaxCentre {

  /**
   * The equivalent model whose coefficients of a feature, and intercepts, have mean 0 over the classes, as in Spark: adding a
   * number to all coefficients of a feature does not change the softmax. Centring gives the smallest L2 penalty. It could raise
   * an L1 penalty, so with one only the intercepts are centred; and with bounds nothing is.
   *
   * @param model
   *   coefficients, then intercepts, laid out as in [[LinearSolution]]
   */
  def apply(problem: LinearProblem, model: Array[Double]): Array[Double] = {
    val outputs = problem.loss.outputs
    if (outputs == 1 || problem.bounds.nonEmpty) model
    else {
      val result = model.clone()
      val numFeatures = model.length / outputs - 1
      var j = if (problem.penalty.l1 > 0.0) numFeatures else 0
      while (j <= numFeatures) {
        val row = j * outputs
        val mean = (0 until outputs).map(c => result(row + c)).sum / outputs
        (0 until outputs).foreach(c => result(row + c) -= mean)
        j += 1
      }
      result
    }
  }
}
