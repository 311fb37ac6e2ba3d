package dwell.solver.sgd.leader

import dwell.data.TrainingRows
import dwell.data.rows.RowDataset

/**
 * What whoever leads knows of the rows.
 *
 * @param scale
 *   of [[dwell.data.RowData]]; null where every one is 1
 * @param mean
 *   weighted mean of each feature; null without intercept
 * @param deviation
 *   of the population of each feature; 0 for a constant one
 * @param meanSquareNorm
 *   weighted mean of the rows' squared norms in the metric of the scale, of centred rows if there is an intercept
 * @param shares
 *   sum of the weights of each partition, relative to all
 * @param classWeights
 *   sum of the weights of each class; of labels -1 and 1 in this order; null without classes
 */
private[solver] final case class RowFacts(
    rowsPerPartition: Array[Int],
    shares: Array[Double],
    totalWeight: Double,
    scale: Array[Double],
    mean: Array[Double],
    deviation: Array[Double],
    meanSquareNorm: Double,
    labelMean: Double,
    labelVariance: Double,
    classWeights: Array[Double]) {

  /** Rows of all partitions, m. */
  def rows: Long = rowsPerPartition.map(_.toLong).sum
}

private[solver] object RowFacts {

  /**
   * @param data
   *   the same rows, split
   * @param classes
   *   number of classes, where labels are those
   */
  def of(rows: TrainingRows, data: RowDataset, classes: Option[Int]): RowFacts = RowFacts(
    data.summary.rowsPerPartition,
    rows.weightsPerPartition(data.numPartitions).map(_ / rows.totalWeight),
    rows.totalWeight,
    data.summary.scale,
    data.summary.mean,
    rows.featureDeviations,
    data.summary.meanSquareNorm,
    rows.labelMean,
    rows.labelVariance,
    classes.map(rows.classWeights).orNull)
}
