package dwell.data.rows

/**
 * The sums and sizes of a [[RowDataset]] that a leader needs; the driver can send them to it. Constant features have 0
 * in `mean`, in `classSums` and in a `scale` that is not null.
 *
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
