package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.comm.Workers
import dwell.fit.ResultHeaders
import dwell.jni.PassLayout
import dwell.solver.pass.{PassMessage, PassSums}

/**
 * Passes over all rows of a fit, for its leader.
 *
 * @param message
 *   a pass in the form that the workers of the fit take
 */
private[rows] final class RowPasses[M](workers: Workers[M, Unit], task: SgdTask)(message: PassMessage => M) {
  private val outputs = task.outputs
  private val entries = task.numFeatures + 1
  private val threads = task.problem.settings.threads

  /**
   * Losses and gradient at a model, or their dual counterparts.
   *
   * @param dual
   *   see [[PassMessage]]
   */
  def evaluate(model: Array[Double], dual: Option[Array[Double]], what: String): Evaluated = {
    val pass = PassMessage(
      task.sgd.loss,
      intercept = true,
      task.numFeatures,
      centre = Array.emptyDoubleArray,
      task.vectorLength,
      PassSums.Gradient,
      threads,
      dual = dual.getOrElse(Array.emptyDoubleArray))
    val gathered = workers.exchange(
      message(pass),
      LittleEndian.bytes(transposed(model, entries, outputs)),
      s"dwell ${task.problem.uid}: $what")
    val headers = new ResultHeaders(gathered.headers)
    val total = task.facts.labels.totalWeight
    val loss = headers.sum(PassLayout.LOSS_SUM) / total
    val gradient = transposed(gathered.sum, outputs, entries)
    var i = 0
    while (i < gradient.length) {
      gradient(i) /= total
      i += 1
    }
    // A line search shortens a step to a model with predictions that are not finite.
    if (java.lang.Double.isFinite(loss)) Evaluated(loss, gradient, headers, gathered.addSeconds)
    else Evaluated(Double.PositiveInfinity, new Array[Double](gradient.length), headers, gathered.addSeconds)
  }

  /** Rows of a matrix as columns: a model has the numbers of a feature side by side, and in a pass those of an output. */
  private def transposed(numbers: Array[Double], rows: Int, columns: Int): Array[Double] =
    if (rows == 1 || columns == 1) numbers
    else {
      val result = new Array[Double](numbers.length)
      var r = 0
      while (r < rows) {
        var c = 0
        while (c < columns) {
          result(c * rows + r) = numbers(r * columns + c)
          c += 1
        }
        r += 1
      }
      result
    }
}

/**
 * The result of a pass over all rows.
 *
 * @param loss
 *   mean loss, or mean conjugate; infinite if it is not finite, and the gradient is then 0
 * @param gradient
 *   gradient of the mean loss, in the layout of a model; or the mean of the dual variables times their rows
 */
private[rows] final case class Evaluated(
    loss: Double,
    gradient: Array[Double],
    headers: ResultHeaders,
    addSeconds: Double)
