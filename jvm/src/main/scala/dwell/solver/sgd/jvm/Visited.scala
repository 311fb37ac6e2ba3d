package dwell.solver.sgd.jvm

import dwell.base.Finite

/** Sums over the rows visited. */
private[sgd] final class Visited {
  private var values, weights = 0.0
  private var count, entries = 0L

  /** Sum of the weighted losses, or conjugates. */
  def valueSum: Double = values

  /** Sum of the row weights. */
  def weightSum: Double = weights

  /** Number of rows. */
  def rows: Long = count

  /** Number of nonzeros of the rows. */
  def nonzeros: Long = entries

  /** Counts a row. Returns false, and does not count it, if the sum of the values would not be finite. */
  def add(value: Double, weight: Double, nonzeros: Int): Boolean = {
    val sum = values + value
    val finite = Finite(sum)
    if (finite) {
      values = sum
      weights += weight
      count += 1L
      entries += nonzeros
    }
    finite
  }
}
