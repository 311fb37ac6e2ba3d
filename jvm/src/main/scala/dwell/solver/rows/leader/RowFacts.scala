package dwell.solver.rows.leader

import dwell.data.TrainingRows
import dwell.data.rows.RowDataset
import dwell.problem.{LabelFacts, Labels}

/**
 * Statistics of the rows, for the leader.
 *
 * @param scale
 *   the scale of [[dwell.data.RowData]]; null if every entry is 1
 * @param mean
 *   weighted mean of each feature; null without intercept
 * @param deviation
 *   population standard deviation of each feature; 0 for a constant one
 * @param meanSquareNorm
 *   weighted mean of the rows' squared norms in the metric of the scale, of centred rows if there is an intercept
 * @param shares
 *   sum of the weights of each partition, relative to the sum of all
 */
private[solver] final case class RowFacts(
    rowsPerPartition: Array[Int],
    shares: Array[Double],
    scale: Array[Double],
    mean: Array[Double],
    deviation: Array[Double],
    meanSquareNorm: Double,
    labels: LabelFacts) {

  /** Rows of all partitions, m. */
  def rows: Long = rowsPerPartition.map(_.toLong).sum
}

private[solver] object RowFacts {

  /**
   * The statistics of `rows`.
   *
   * @param data
   *   the same rows, in partitions
   * @param labels
   *   labels of the loss
   */
  def of(rows: TrainingRows, data: RowDataset, labels: Labels): RowFacts = RowFacts(
    data.summary.rowsPerPartition,
    data.summary.weightPerPartition.map(_ / rows.totalWeight),
    data.summary.scale,
    data.summary.mean,
    rows.featureDeviations,
    data.summary.meanSquareNorm,
    rows.labelFacts(data, labels))
}
