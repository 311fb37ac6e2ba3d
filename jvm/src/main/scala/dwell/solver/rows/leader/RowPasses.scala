package dwell.solver.rows.leader

import dwell.base.LittleEndian
import dwell.comm.Workers
import dwell.fit.ResultHeaders
import dwell.jni.PassLayout
import dwell.solver.pass.{PassMessage, PassSums}
import dwell.solver.rows.search.{SearchAnswer, SearchMessage}

/**
 * Passes over all rows of a fit, for its leader.
 *
 * @param together
 *   the same workers, if they can keep slices of the vectors of a search
 * @param message
 *   a pass in the form that the workers of the fit take
 */
private[rows] final class RowPasses[M](
    workers: Workers[M, _],
    task: RowTask,
    val together: Option[Workers.Together[SearchMessage, SearchAnswer]] = None)(message: PassMessage => M) {
  private val outputs = task.outputs
  private val entries = task.numFeatures + 1
  private val threads = task.problem.settings.threads
  private val total = task.facts.labels.totalWeight

  /**
   * Losses and gradient at a model, or their dual counterparts. Model and sums have the layout of a pass: the numbers of an output
   * side by side.
   *
   * @param dual
   *   see [[PassMessage]]
   */
  def pass(model: Array[Byte], dual: Option[Array[Double]], what: String): Passed = {
    val pass = gradient.copy(dual = dual.getOrElse(Array.emptyDoubleArray))
    val gathered = workers.exchange(message(pass), model, s"dwell ${task.problem.uid}: $what")
    val headers = new ResultHeaders(gathered.headers)
    val loss = meanLoss(headers)
    // A line search shortens a step to a model with predictions that are not finite.
    val sums = if (loss.isInfinite) new Array[Double](gathered.sum.length) else gathered.sum
    Passed(loss, sums, Array.tabulate(outputs)(c => sums((c + 1) * entries - 1)), headers, gathered.addSeconds)
  }

  /** A pass for losses and gradient. */
  def gradient: PassMessage = PassMessage(
    task.problem.loss,
    intercept = true,
    task.numFeatures,
    centre = Array.emptyDoubleArray,
    task.vectorLength,
    PassSums.Gradient,
    threads)

  /** The mean loss that the workers report; infinite if it is not finite. */
  def meanLoss(headers: ResultHeaders): Double = {
    val loss = headers.sum(PassLayout.LOSS_SUM) / total
    if (java.lang.Double.isFinite(loss)) loss else Double.PositiveInfinity
  }

  /** A model, which has the numbers of a feature side by side, in the layout of a pass. */
  def ofPass(model: Array[Double]): Array[Double] = transposed(model, entries, outputs)

  /** The same, little endian. */
  def written(model: Array[Double]): Array[Byte] = LittleEndian.bytes(ofPass(model))

  /** The model of [[written]]. */
  def read(model: Array[Byte]): Array[Double] = transposed(LittleEndian.doubles(model), outputs, entries)

  /** Rows of a matrix as columns. */
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
 *   mean loss, or mean conjugate; infinite if it is not finite, and the sums are then 0
 * @param sums
 *   the sum of the weights times the gradient of the mean loss, or times the mean of the dual variables times their rows; none if workers
 *   keep them
 * @param intercepts
 *   those of the sums that belong to intercepts
 */
private[rows] final case class Passed(
    loss: Double,
    sums: Array[Double],
    intercepts: Array[Double],
    headers: ResultHeaders,
    addSeconds: Double)
