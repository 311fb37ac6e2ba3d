package dwell.data.rows

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}

/**
 * The rows of one partition, as primitive arrays that native code reads in place. Features that are constant over all
 * rows (all-zero features among them) have no nonzeros here: Spark gives them coefficient 0, and their mean counts as 0.
 *
 * The partition is sparse (compressed sparse row form) or dense: then `indices` is null, and every row stores one value
 * for each feature, zeros included.
 *
 * Values have the narrowest width that loses nothing: at most one of `values32` and `values64` is present, and none if
 * every value of a sparse partition is 1.
 *
 * @param index
 *   the partition's number, 0 to numPartitions - 1
 * @param features
 *   number of features of the whole dataset, n; feature indices are below it
 * @param rows
 *   number of each local row in the whole dataset, ascending unless the rows are mixed; rows of weight 0 have no number
 * @param offsets
 *   length `rows.length + 1`: values of row i are at offsets(i) until offsets(i + 1)
 * @param indices
 *   feature of each value, ascending within a row; null if the partition is dense
 * @param values32
 *   the values, or null
 * @param values64
 *   the values, or null
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
    extends Bulk[RowPartition] {
  override protected def format: BulkFormat[RowPartition] = RowPartition

  /** Whether every row stores a value for each feature. */
  def isDense: Boolean = indices == null

  /** The number of rows held, m_k. */
  def numRows: Int = rows.length

  /** The number of values stored; zeros of a dense partition count. */
  def nonzeros: Int = offsets.last

  /** The value at position `at`. */
  def value(at: Int): Double =
    if (values64 != null) values64(at) else if (values32 != null) values32(at).toDouble else 1.0

  /** The size of the arrays in bytes. */
  def bytes: Long =
    4L * offsets.length + 8L * (rows.length + labels.length + norms.length) +
      (if (indices != null) 4L * indices.length else 0L) +
      (if (values32 != null) 4L * values32.length else 0L) + (if (values64 != null) 8L * values64.length else 0L) +
      (if (weights != null) 8L * weights.length else 0L) + (if (projections != null) 8L * projections.length else 0L)

  override def toString: String = s"RowPartition($index: $numRows rows, $features features, $nonzeros nonzeros)"
}

private[data] object RowPartition extends BulkFormat[RowPartition] {

  /** Bytes of a row beside its values, at most: five arrays of eight bytes, and one of four. */
  val BytesOfRow = 44L

  override def write(p: RowPartition, out: BulkOutput): Unit = {
    out.int(p.index)
    out.int(p.features)
    out.array(p.rows)
    out.array(p.offsets)
    out.array(p.indices)
    out.array(p.values32)
    out.array(p.values64)
    out.array(p.labels)
    out.array(p.weights)
    out.array(p.norms)
    out.array(p.projections)
  }

  override def read(in: BulkInput): RowPartition = new RowPartition(
    in.int(),
    in.int(),
    in.longArray(),
    in.intArray(),
    in.intArray(),
    in.floatArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray())
}
