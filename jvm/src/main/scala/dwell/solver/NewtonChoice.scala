package dwell.solver

import dwell.data.TrainingRows
import dwell.problem.Loss

/** Whether Newton's method is forecast to be the fastest one for a problem. */
private[dwell] object NewtonChoice {

  /** Whether the method solves problems of this loss and so many features. */
  def solves(loss: Loss, numFeatures: Int): Boolean =
    numFeatures <= TrainingRows.Few && loss.selfConcordance.nonEmpty

  /**
   * Whether it is expected to be faster than coordinate descent or, without a penalty, than Spark's own code. A pass takes a product of each row with itself, and the leader
   * factors a matrix of the features.
   */
  def isFaster(loss: Loss, penalised: Boolean, rows: TrainingRows): Boolean = {
    val (m, n) = (rows.numRows.toDouble, rows.numFeatures.toDouble)
    val perRow = rows.nonzeros / m
    val dense = n * n / 2.0 * SecondsPerDensePair
    val sparse = perRow * perRow / 2.0 * SecondsPerSparsePair
    val once = loss.selfConcordance.contains(0.0)
    val passes = if (once) 1.0 else PassesOfNewton
    val pass = m * (if (perRow > SparseBelow * n) dense else sparse)
    val newton = passes * (pass + n * n * n / 3.0 * SecondsPerDensePair)
    val descent = Epochs * rows.nonzeros * SecondsPerNonzero + SecondsOfRounds
    val spark = SparkPerNonzero * rows.nonzeros + SecondsOfSpark
    // Spark's normal equations take the same sums, and ten times as long for them.
    if (penalised) newton <= descent else once || newton <= spark
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

  /** The iterations of Spark's L-BFGS: 1,000,000 x 28, 3,000,000 x 10 and 100,000 x 400 took 3.4 to 4.5 s on two cores. */
  private val SparkPerNonzero = 1.5e-7
  private val SecondsOfSpark = 1.0

  /** The share of nonzeros from which rows are stored with their zeros. */
  private val SparseBelow = 0.6
}
