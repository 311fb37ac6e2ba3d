package dwell.solver.cd.worker

import dwell.problem.{Labels, MarginLoss}

/**
 * The rows' side of the primal form. All arrays have one entry for each row.
 *
 * @param labels
 *   y; -1 and 1 for classification
 * @param weights
 *   s, or null if every weight is 1
 */
final class MarginRows(val labels: Array[Double], val weights: Array[Double]) {

  /** Products of the data with the coefficients, a; the margin of a row is a + intercept. */
  val margins: Array[Double] = new Array[Double](labels.length)

  /** The last step of the margins, d. */
  val direction: Array[Double] = new Array[Double](labels.length)

  /** The sum of the workers' updates, u. */
  val update: Array[Double] = new Array[Double](labels.length)

  /** The losses at the margins, as the last operation `LOSSES` left them. */
  val losses: Array[Double] = new Array[Double](labels.length)

  /** The working residuals, as the last operation `RESIDUALS` left them. */
  val residuals: Array[Double] = new Array[Double](labels.length)
}

object MarginRows {

  /**
   * Rows with margins 0.
   *
   * @param labels
   *   as the data hold them
   * @param weights
   *   null if every weight is 1
   * @param origin
   *   subtracted from the labels of a loss that takes any number
   */
  def of(labels: Array[Double], weights: Array[Double], loss: MarginLoss, origin: Double): MarginRows = {
    val own = loss.labels match {
      case Labels.Real => labels.map(_ - origin)
      case kind => kind.of(labels)
    }
    new MarginRows(own, weights)
  }
}

/**
 * An operation on the margins. [[dwell.jni.MarginLayout]] says what each one reads and writes, and which sums it takes.
 *
 * @param code
 *   number of the operation in native calls
 * @param first
 *   the operation's first number; 0 if it has none
 * @param second
 *   the operation's second number; 0 if it has none
 */
final case class MarginOperation(code: Long, first: Double = 0.0, second: Double = 0.0)
