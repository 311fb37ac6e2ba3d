package dwell.data.matrix

/**
 * The number of nonzeros of each column that has any, in ascending order of the columns. Sparse, because a partition of
 * hashed text uses only a few of all columns.
 */
private[data] final class ColumnCounts(val columns: Array[Int], val counts: Array[Int])
