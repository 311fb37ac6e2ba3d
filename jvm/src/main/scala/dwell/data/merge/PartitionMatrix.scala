package dwell.data.merge

import dwell.data.matrix.NarrowValues

/**
 * The vectors of one partition of rows, as [[dwell.data.rows.RowPartition]] and
 * [[dwell.data.documents.DocumentPartition]] hold them.
 *
 * @param numbers
 *   number of each row in the whole dataset
 * @param offsets
 *   values of row i are at offsets(i) until offsets(i + 1)
 * @param indices
 *   feature of each value, ascending within a row; null if the partition is dense
 */
private[data] final class PartitionMatrix(
    val numbers: Array[Long],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues)
