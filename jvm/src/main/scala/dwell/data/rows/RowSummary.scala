package dwell.data.rows

import dwell.problem.Labels

/**
 * The sums and sizes of rows that a leader needs; the driver can send them to it. Constant features have 0 in `mean`, in `classSums` and in
 * a `scale` that is not null.
 *
 * @param features
 *   number of features, n
 * @param rowsPerPartition
 *   number of rows of each partition
 * @param weightPerPartition
 *   sum of the weights of the rows of each partition
 * @param nonzerosPerPartition
 *   number of nonzeros of each partition
 * @param scale
 *   scale_j of each feature, or null if every one is 1, because `scaleFactor` is 0
 * @param mean
 *   weighted mean of each feature, including implicit zeros; null without an intercept
 * @param meanScaleMean
 *   E = sum_j scale_j mean_j^2; 0 without an intercept
 * @param meanSquareNorm
 *   weighted mean of the rows' squared norms, of centred rows if there is an intercept:
 *   (1/S) sum_i s_i (N_i - 2 e_i + E)
 * @param classSums
 *   sums of the features by class; null without signed labels
 */
final case class RowSummary(
    features: Int,
    rowsPerPartition: Array[Int],
    weightPerPartition: Array[Double],
    nonzerosPerPartition: Array[Long],
    scale: Array[Double],
    mean: Array[Double],
    meanScaleMean: Double,
    meanSquareNorm: Double,
    classSums: ClassSums) {

  /** The number of partitions, K. */
  def numPartitions: Int = rowsPerPartition.length

  /** The number of nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum
}

private[data] object RowSummary {

  /**
   * @param rows
   *   number of rows of each partition
   * @param weights
   *   sum of the weights of each partition
   * @param nonzeros
   *   number of nonzeros of each partition
   * @param scale
   *   see [[RowForm]]
   */
  def of(
      rows: Array[Int],
      weights: Array[Double],
      nonzeros: Array[Long],
      moments: FeatureMoments,
      scale: Array[Double],
      form: RowForm): RowSummary = {
    val mean = if (form.intercept) moments.mean else null
    def scaledSum(term: Int => Double): Double = {
      var sum = 0.0
      var j = 0
      while (j < moments.mean.length) {
        sum += (if (scale == null) term(j) else scale(j) * term(j))
        j += 1
      }
      sum
    }
    RowSummary(
      moments.mean.length,
      rows,
      weights,
      nonzeros,
      scale,
      mean,
      if (mean == null) 0.0 else scaledSum(j => mean(j) * mean(j)),
      // The sum over the rows in closed form: the features' second moments, about the mean if there is an intercept.
      scaledSum(j => moments.variance(j) + (if (form.intercept) 0.0 else moments.mean(j) * moments.mean(j))),
      if (form.labels == Labels.Signed) moments.classSums else null)
  }
}
