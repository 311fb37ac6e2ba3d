package dwell.solver

import dwell.data.TrainingRows
import dwell.problem.Loss

/** Whether Newton's method is forecast to be the fastest one for a problem. */
private[dwell] object NewtonChoice {

  /** Whether the method solves problems of this loss and so many features. */
  def solves(loss: Loss, numFeatures: Int): Boolean =
    numFeatures <= TrainingRows.Few && loss.selfConcordance.nonEmpty

  /**
   * Whether it is expected to be faster than coordinate descent. A pass takes a product of each row with itself, and the leader
   * factors a matrix of the features.
   */
  def isFaster(loss: Loss, rows: TrainingRows): Boolean = {
    val (m, n) = (rows.numRows.toDouble, rows.numFeatures.toDouble)
    val perRow = rows.nonzeros / m
    val dense = n * n / 2.0 * SecondsPerDensePair
    val sparse = perRow * perRow / 2.0 * SecondsPerSparsePair
    val passes = if (loss.selfConcordance.contains(0.0)) 1.0 else PassesOfNewton
    val pass = m * (if (perRow > SparseBelow * n) dense else sparse)
    val newton = passes * (pass + n * n * n / 3.0 * SecondsPerDensePair)
    val descent = Epochs * rows.nonzeros * SecondsPerNonzero + SecondsOfRounds
    newton <= descent
  }

  // Measured on one core of an AMD EPYC with AVX-512, in round numbers: only ratios of ten matter.
  private val SecondsPerDensePair = 1e-10
  private val SecondsPerSparsePair = 1e-9
  private val SecondsPerNonzero = 4e-9

  /** Passes over the rows of a logistic fit. */
  private val PassesOfNewton = 8.0

  /** Epochs of coordinate descent, and what its rounds and its form of the data take beside them. */
  private val Epochs = 40.0
  private val SecondsOfRounds = 0.5

  /** The share of nonzeros from which rows are stored with their zeros. */
  private val SparseBelow = 0.6
}
