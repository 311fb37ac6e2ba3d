package dwell.solver.newton.leader

import dwell.base.LittleEndian
import dwell.comm.Replicas
import dwell.fit.ResultHeaders
import dwell.jni.PassLayout
import dwell.problem.Loss
import dwell.solver.linear.FirstPass
import dwell.solver.pass.{PassMessage, PassSums}

/** The workers of a fit by Newton's method, for its leader. */
private[newton] final class PassWorkers(workers: Replicas[PassMessage, Unit], task: NewtonTask) {
  private val shape = task.shape
  private val entries = PassLayout.entries(shape.features, shape.more, shape.outputs)
  private val threads = task.problem.settings.threads
  private val total = task.facts.labels.totalWeight

  /** The coordinates of all models. */
  var coordinates: Remainders = Remainders.none(shape)

  // Without an intercept, features stay where they are; and bounds are for the intercept of features that are not centred.
  private val centre =
    if (task.problem.intercept && !task.problem.bounds.exists(_.holdIntercepts)) task.facts.centre
    else new Array[Double](shape.features)

  /**
   * Sums over all rows at a model.
   *
   * @param model
   *   for each output: coefficients, then the intercept of centred features
   * @param reach
   *   see [[Newton]]
   * @param corner
   *   of the hinge, for a proximal pass
   * @param line
   *   through the model
   */
  def pass(
      model: Array[Double],
      sums: PassSums,
      reach: Array[Double],
      corner: Option[Corner],
      what: String,
      line: Line = Line.none): PassOutcome = {
    val message = PassMessage(
      corner.fold(task.loss)(_.loss),
      task.problem.intercept,
      shape.features,
      centre,
      entries,
      sums,
      threads,
      direction = line.direction,
      steps = line.steps,
      reach = reach,
      remainders = coordinates.numbers,
      earlier = corner.map(_.earlier))
    val gathered = workers.exchange(message, LittleEndian.bytes(model), described(what))
    val headers = new ResultHeaders(gathered.headers)
    val vector = gathered.sum
    vector.indices.foreach(i => vector(i) /= total)
    PassOutcome(
      headers.sum(PassLayout.LOSS_SUM) / total,
      headers.sum(PassLayout.HINGE_SUM) / total,
      line.steps.indices.map(k => headers.sum(PassLayout.LOSSES + k) / total),
      headers.largest(PassLayout.REACH),
      vector,
      shape,
      headers,
      total,
      gathered.addSeconds)
  }

  /** The mean square of each feature about its centre, in these coordinates. */
  def squares(in: Remainders, what: String): (Array[Double], ResultHeaders) = {
    val row = shape.copy(hasScale = false, outputs = 1)
    val message = PassMessage(
      Loss.ofAnyLabels,
      task.problem.intercept,
      row.features,
      centre,
      entries,
      PassSums(gradient = false, hessian = false, moments = true),
      threads,
      remainders = in.numbers)
    val gathered = workers.exchange(message, LittleEndian.bytes(new Array[Double](row.variables)), described(what))
    val from = row.variables + row.features
    val headers = new ResultHeaders(gathered.headers)
    (gathered.sum.slice(from, from + row.features).map(_ / total), headers)
  }

  /** The model with these coefficients and intercepts, in the layout of [[dwell.solver.linear.LinearSolution]]. */
  def centred(coefficients: Array[Double], intercepts: Array[Double]): Array[Double] = {
    val model = new Array[Double](shape.variables)
    for (c <- 0 until shape.outputs) {
      for (j <- 0 until shape.features) model(shape.at(c, j)) = coefficients(j * shape.outputs + c)
      if (shape.hasIntercept) model(shape.intercept(c)) = intercepts(c) + centreOf(model, c)
    }
    model
  }

  /** The intercept of each output for features that are not centred. */
  def intercepts(model: Array[Double]): Array[Double] =
    Array.tabulate(shape.outputs)(c => if (shape.hasIntercept) model(shape.intercept(c)) - centreOf(model, c) else 0.0)

  /** The prediction of an output's coefficients at the centre of the features. */
  def centreOf(model: Array[Double], output: Int): Double =
    (0 until shape.features).map(j => centre(j) * model(shape.at(output, j))).sum

  /** (-centre, 1): its product with a centred model is the intercept of features that are not centred. */
  def interceptRow: Array[Double] = centre.map(c => -c) :+ 1.0

  private def described(what: String): String = s"dwell ${task.problem.uid}: $what"
}

/**
 * A line through a model, along which a pass sums the losses as well.
 *
 * @param steps
 *   by how many times the direction each of the other models is away
 */
private[newton] final case class Line(direction: Array[Double], steps: Array[Double])

private[newton] object Line {
  val none: Line = Line(Array.emptyDoubleArray, Array.emptyDoubleArray)
}

/**
 * Means over all rows.
 *
 * @param loss
 *   mean loss
 * @param hinge
 *   of a proximal pass: mean hinge
 * @param along
 *   mean loss at each step of the line
 * @param reach
 *   largest reach of a row
 * @param vector
 *   mean gradient, moments and Hessian, as in [[dwell.jni.PassLayout]]
 * @param total
 *   the sum of all weights
 */
private[newton] final case class PassOutcome(
    loss: Double,
    hinge: Double,
    along: Seq[Double],
    reach: Double,
    vector: Array[Double],
    shape: ModelShape,
    headers: ResultHeaders,
    total: Double,
    addSeconds: Double) {

  /** The pass at this model, for other fits. */
  def asFirst(at: Array[Double]): FirstPass = {
    val triangles = PassLayout.triangles(shape.features, shape.more, shape.outputs)
    FirstPass(at, loss, vector, triangles, headers.sum(PassLayout.ROWS).toLong, total)
  }

  def gradient: Array[Double] = java.util.Arrays.copyOf(vector, shape.variables)

  /** The mean, for each class, of the sizes of the slopes of a loss of two classes: the sum over the class, over all weights. */
  def slopes: Array[Double] = byClass(PassLayout.SLOPES)

  /** The same of their squares. */
  def slopeSquares: Array[Double] = byClass(PassLayout.SLOPE_SQUARES)

  private def byClass(slot: Int): Array[Double] = Array(headers.sum(slot) / total, headers.sum(slot + 1) / total)

  /** The mean square of each feature about its centre. */
  def secondMoments: Array[Double] = {
    val from = shape.variables + shape.features
    java.util.Arrays.copyOfRange(vector, from, from + shape.features)
  }

  /** The population variance of each feature. */
  def variances: Array[Double] = Array.tabulate(shape.features) { j =>
    val mean = vector(shape.variables + j)
    math.max(0.0, vector(shape.variables + shape.features + j) - mean * mean)
  }
}
