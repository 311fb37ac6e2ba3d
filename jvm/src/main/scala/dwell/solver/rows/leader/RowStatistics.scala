package dwell.solver.rows.leader

import dwell.data.TrainingRows
import dwell.data.rows.{FeatureFacts, RowSummary}
import dwell.problem.LabelFacts

/**
 * Statistics of all rows, for the leader.
 *
 * @param rows
 *   their number, m
 * @param scale
 *   the scale of [[dwell.data.RowData]]; null if every entry is 1
 * @param mean
 *   weighted mean of each feature; null without intercept
 * @param deviation
 *   population standard deviation of each feature; 0 for a constant one
 * @param sampleFactor
 *   see [[dwell.data.TrainingRows]]
 */
private[solver] final case class RowStatistics(
    rows: Long,
    scale: Array[Double],
    mean: Array[Double],
    deviation: Array[Double],
    sampleFactor: Double,
    labels: LabelFacts)

private[solver] object RowStatistics {
  def of(rows: TrainingRows, features: FeatureFacts, labels: LabelFacts): RowStatistics =
    RowStatistics(rows.numRows, features.scale, features.mean, features.deviation, rows.sampleFactor, labels)
}

/**
 * Statistics of the rows of each partition, for model averaging.
 *
 * @param rows
 *   rows of each partition
 * @param shares
 *   sum of the weights of each partition, relative to the sum of all
 * @param meanSquareNorm
 *   weighted mean of the rows' squared norms in the metric of the scale, of centred rows if there is an intercept
 */
private[solver] final case class PartitionFacts(rows: Array[Int], shares: Array[Double], meanSquareNorm: Double)

private[solver] object PartitionFacts {
  def of(rows: TrainingRows, summary: RowSummary): PartitionFacts =
    PartitionFacts(
      summary.rowsPerPartition,
      summary.weightPerPartition.map(_ / rows.totalWeight),
      summary.meanSquareNorm)
}
