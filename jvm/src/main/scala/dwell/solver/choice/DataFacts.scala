package dwell.solver.choice

import dwell.data.TrainingRows

/**
 * What the choice of a method knows of the data.
 *
 * @param densePairs
 *   half the square of the number of features, for each row that is stored with its zeros
 * @param sparsePairs
 *   half the squares of the numbers of nonzeros of the other rows
 */
private[solver] final case class DataFacts(
    numRows: Long,
    numFeatures: Int,
    nonzeros: Long,
    densePairs: Double,
    sparsePairs: Double)

private[solver] object DataFacts {
  def of(rows: TrainingRows): DataFacts =
    DataFacts(rows.numRows, rows.numFeatures, rows.nonzeros, rows.densePairs, rows.sparsePairs)
}
