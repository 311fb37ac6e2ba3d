package dwell.solver.newton.leader

import dwell.comm.Replicas
import dwell.fit.ResultHeaders
import dwell.jni.PassLayout
import dwell.solver.newton.worker.{PassMessage, PassSums}

/** The workers of a fit by Newton's method, for its leader. */
private[newton] final class PassWorkers(workers: Replicas[PassMessage, Unit], task: NewtonTask) {
  private val p = task.facts.numFeatures
  private val n = if (task.problem.intercept) p + 1 else p
  private val total = task.facts.labels.totalWeight

  // Without an intercept, features stay where they are.
  private val centre = if (task.problem.intercept) task.facts.centre else new Array[Double](p)

  /**
   * Sums over all rows at a model.
   *
   * @param model
   *   coefficients, then the intercept of centred features
   * @param reach
   *   see [[Newton]]
   */
  def pass(model: Array[Double], sums: PassSums, reach: Array[Double], what: String): Passed = {
    val message = PassMessage(task.loss, task.problem.intercept, centre, model, sums, reach = reach)
    val gathered = workers.exchange(message, Array.emptyByteArray, described(what))
    val headers = new ResultHeaders(gathered.headers)
    val vector = gathered.sum
    var i = 0
    while (i < vector.length) {
      vector(i) /= total
      i += 1
    }
    Passed(
      headers.sum(PassLayout.LOSS_SUM) / total,
      headers.largest(PassLayout.REACH),
      vector,
      p,
      n,
      headers,
      gathered.addSeconds)
  }

  /** The mean loss at each of some steps along a line from a model, and the headers. */
  def along(
      model: Array[Double],
      direction: Array[Double],
      steps: Array[Double],
      what: String): (Array[Double], ResultHeaders) = {
    val message = PassMessage(
      task.loss,
      task.problem.intercept,
      centre,
      model,
      PassSums.Nothing,
      direction = direction,
      steps = steps)
    val headers =
      new ResultHeaders(workers.exchange(message, Array.emptyByteArray, described(what)).headers)
    (steps.indices.map(k => headers.sum(PassLayout.LOSSES + k) / total).toArray, headers)
  }

  /** The intercept of features that are not centred. */
  def intercept(model: Array[Double]): Double =
    if (task.problem.intercept) model(p) - centreOf(model) else 0.0

  /** The prediction of coefficients at the centre of the features. */
  def centreOf(coefficients: Array[Double]): Double = (0 until p).map(j => centre(j) * coefficients(j)).sum

  /** (-centre, 1): its product with a centred model is the intercept of features that are not centred. */
  def interceptRow: Array[Double] = centre.map(c => -c) :+ 1.0

  private def described(what: String): String = s"dwell ${task.problem.uid}: $what"
}

/**
 * Means over all rows.
 *
 * @param loss
 *   mean loss
 * @param reach
 *   largest reach of a row
 * @param vector
 *   mean gradient, moments and Hessian, as in [[dwell.jni.PassLayout]]
 */
private[newton] final case class Passed(
    loss: Double,
    reach: Double,
    vector: Array[Double],
    p: Int,
    n: Int,
    headers: ResultHeaders,
    addSeconds: Double) {

  def gradient: Array[Double] = java.util.Arrays.copyOf(vector, n)

  /** The population variance of each feature. */
  def variances: Array[Double] = Array.tabulate(p) { j =>
    val mean = vector(n + j)
    math.max(0.0, vector(n + p + j) - mean * mean)
  }
}
