package dwell.data.rows

/**
 * What the driver knows of the rows in this form; it can be sent to where the rounds are led from. Features that are
 * constant have 0 in `mean`, in `classSums` and in a `scale` that is not null.
 *
 * @param rowsPerPartition
 *   rows of each partition
 * @param scale
 *   scale_j of each feature, or null where every one is 1, which is where `scaleFactor` is 0
 * @param mean
 *   weighted mean of each feature, implicit zeros included; null without intercept
 * @param meanScaleMean
 *   E = sum_j scale_j mean_j^2; 0 without intercept
 * @param meanSquareNorm
 *   weighted mean of the rows' squared norms, of centred rows if there is an intercept:
 *   (1/S) sum_i s_i (N_i - 2 e_i + E)
 * @param classSums
 *   sums of the features by class; null without signed labels
 * @param holders
 *   number of partitions that have a nonzero of each feature
 */
final case class RowSummary(
    rowsPerPartition: Array[Int],
    nonzerosPerPartition: Array[Long],
    scale: Array[Double],
    mean: Array[Double],
    meanScaleMean: Double,
    meanSquareNorm: Double,
    classSums: ClassSums,
    holders: Array[Int]) {

  /** Number of partitions, K. */
  def numPartitions: Int = rowsPerPartition.length

  /** Nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum
}
