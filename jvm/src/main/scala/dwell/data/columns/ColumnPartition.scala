package dwell.data.columns

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}

/**
 * The columns of one partition, as primitive arrays that native code reads in place. Columns that are constant over all
 * rows (all-zero columns among them) are left out: Spark gives them coefficient 0.
 *
 * The partition is sparse (compressed sparse column form) or dense: then `indices` is null, and every column stores one
 * value for each row, zeros included.
 *
 * Values have the narrowest width that loses nothing: at most one of `values32` and `values64` is present, and none if
 * every value of a sparse partition is 1.
 *
 * @param index
 *   the partition's number, 0 to numPartitions - 1
 * @param rows
 *   number of rows of the whole dataset, m; row indices are below it
 * @param columns
 *   feature index of each local column; ordered by min(length, 9), then by feature index, so that columns of the same
 *   short length follow one another
 * @param offsets
 *   length `columns.length + 1`: values of column i are at offsets(i) until offsets(i + 1)
 * @param indices
 *   row of each value, ascending within a column; null if the partition is dense
 * @param values32
 *   the values, or null
 * @param values64
 *   the values, or null
 * @param mean
 *   weighted mean of each column, including implicit zeros
 * @param variance
 *   weighted population variance of each column, including implicit zeros; positive
 * @param deviation
 *   square root of the variance
 * @param weights
 *   weight of each row of the whole dataset, or null if every weight is 1
 * @param labels
 *   labels of the partition's slice of rows, see [[dwell.base.SliceBounds]]
 */
final class ColumnPartition(
    val index: Int,
    val rows: Int,
    val columns: Array[Int],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values32: Array[Float],
    val values64: Array[Double],
    val mean: Array[Double],
    val variance: Array[Double],
    val deviation: Array[Double],
    val weights: Array[Double],
    val labels: Array[Double])
    extends Bulk[ColumnPartition] {
  override protected def format: BulkFormat[ColumnPartition] = ColumnPartition

  /** Whether every column stores a value for each row. */
  def isDense: Boolean = indices == null

  /** The number of columns held, n_k. */
  def numColumns: Int = columns.length

  /** The number of values stored; zeros of a dense partition count. */
  def nonzeros: Int = offsets.last

  /** The value at position `at`. */
  def value(at: Int): Double =
    if (values64 != null) values64(at) else if (values32 != null) values32(at).toDouble else 1.0

  /** The size of the arrays in bytes. */
  def bytes: Long =
    4L * (columns.length + offsets.length) + (if (indices != null) 4L * indices.length else 0L) + 24L * columns.length +
      8L * labels.length + (if (weights != null) 8L * weights.length else 0L) +
      (if (values32 != null) 4L * values32.length else 0L) + (if (values64 != null) 8L * values64.length else 0L)

  override def toString: String = s"ColumnPartition($index: $rows rows, $numColumns columns, $nonzeros nonzeros)"
}

private object ColumnPartition extends BulkFormat[ColumnPartition] {
  override def write(p: ColumnPartition, out: BulkOutput): Unit = {
    out.int(p.index)
    out.int(p.rows)
    out.array(p.columns)
    out.array(p.offsets)
    out.array(p.indices)
    out.array(p.values32)
    out.array(p.values64)
    out.array(p.mean)
    out.array(p.variance)
    out.array(p.deviation)
    out.array(p.weights)
    out.array(p.labels)
  }

  override def read(in: BulkInput): ColumnPartition = new ColumnPartition(
    in.int(),
    in.int(),
    in.intArray(),
    in.intArray(),
    in.intArray(),
    in.floatArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray(),
    in.doubleArray())
}
