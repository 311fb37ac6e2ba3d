package dwell.data.rows

/**
 * The rows of one partition in compressed sparse row form, as primitive arrays that native code reads in place.
 * Features that are constant over all rows (all-zero features among them) have no nonzeros here: Spark gives them
 * coefficient 0, and their mean counts as 0.
 *
 * Values have the narrowest width that loses nothing: at most one of `values32` and `values64` is present, and none if
 * every value is 1.
 *
 * @param index
 *   the partition's number, 0 to numPartitions - 1
 * @param features
 *   number of features of the whole dataset, n; feature indices are below it
 * @param rows
 *   number of each local row in the whole dataset, ascending unless the rows are mixed; rows of weight 0 have no number
 * @param offsets
 *   length `rows.length + 1`: nonzeros of row i are at offsets(i) until offsets(i + 1)
 * @param indices
 *   feature of each nonzero, ascending within a row
 * @param values32
 *   value of each nonzero, or null
 * @param values64
 *   value of each nonzero, or null
 * @param labels
 *   label of each row; -1 or 1 if the dataset has signed labels
 * @param weights
 *   weight of each row, positive, or null if every weight of the whole dataset is 1
 * @param norms
 *   squared norm of each row in the metric of the scale, N_i = sum_j scale_j x_ij^2; finite, not negative
 * @param projections
 *   product of each row with the means in the same metric, e_i = sum_j scale_j mean_j x_ij; null without an intercept
 */
final class RowPartition(
    val index: Int,
    val features: Int,
    val rows: Array[Long],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values32: Array[Float],
    val values64: Array[Double],
    val labels: Array[Double],
    val weights: Array[Double],
    val norms: Array[Double],
    val projections: Array[Double])
    extends Serializable {

  /** The number of rows held, m_k. */
  def numRows: Int = rows.length

  /** The number of nonzeros held. */
  def nonzeros: Int = indices.length

  /** The value of the nonzero at position `at`. */
  def value(at: Int): Double =
    if (values64 != null) values64(at) else if (values32 != null) values32(at).toDouble else 1.0

  /** The size of the arrays in bytes. */
  def bytes: Long =
    4L * (offsets.length + indices.length) + 8L * (rows.length + labels.length + norms.length) +
      (if (values32 != null) 4L * values32.length else 0L) + (if (values64 != null) 8L * values64.length else 0L) +
      (if (weights != null) 8L * weights.length else 0L) + (if (projections != null) 8L * projections.length else 0L)

  override def toString: String = s"RowPartition($index: $numRows rows, $features features, $nonzeros nonzeros)"
}
