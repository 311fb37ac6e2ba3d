package dwell.solver.cd.worker

import dwell.problem.{Labels, MarginLoss}

/**
 * A slice of the rows in the primal form. All arrays have one entry for each row.
 *
 * @param labels
 *   y; -1 and 1 for classification
 * @param weights
 *   s, or null if every weight is 1
 */
final class MarginSlice(val labels: Array[Double], val weights: Array[Double]) {

  /** Products of the data with the coefficients, a; the margin of a row is a + intercept. */
  val margins: Array[Double] = new Array[Double](labels.length)

  /** The last step of the margins, d. */
  val direction: Array[Double] = new Array[Double](labels.length)

  /** The sum of the workers' updates, u. */
  val update: Array[Double] = new Array[Double](labels.length)

  /** The losses at the margins, as of the last [[MarginOperation.Losses]]. */
  val losses: Array[Double] = new Array[Double](labels.length)

  /** The working residuals, as of the last [[MarginOperation.Residuals]]. */
  val residuals: Array[Double] = new Array[Double](labels.length)

  /** The number of rows. */
  def rows: Int = labels.length

  /** The size of the arrays in bytes. */
  def bytes: Long = 8L * rows * (if (weights == null) 6 else 7)
}

object MarginSlice {

  /**
   * A slice with margins 0.
   *
   * @param labels
   *   as the data hold them
   * @param weights
   *   null if every weight is 1
   * @param origin
   *   subtracted from the labels of a loss that takes any number
   */
  def of(labels: Array[Double], weights: Array[Double], loss: MarginLoss, origin: Double): MarginSlice = {
    val own = loss.labels match {
      case Labels.Real => labels.map(_ - origin)
      case kind => kind.of(labels)
    }
    new MarginSlice(own, weights)
  }
}

/**
 * An operation on a slice. [[dwell.jni.MarginLayout]] says what each one reads and writes, and which sums it takes.
 *
 * @param code
 *   number of the operation in native calls
 * @param first
 *   the operation's first number; 0 if it has none
 * @param second
 *   the operation's second number; 0 if it has none
 */
final case class MarginOperation(code: Long, first: Double = 0.0, second: Double = 0.0)
