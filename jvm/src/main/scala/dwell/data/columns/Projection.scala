package dwell.data.columns

import dwell.base.SliceBounds
import dwell.data.block.RowBlock
import dwell.data.matrix.{DenseBlock, MatrixBlock, NarrowValues, SparseBlock}

/**
 * Cuts blocks of rows by columns. Each partition gets all rows with the values of its columns, in the block's form. The columns of a
 * partition have the numbers 0 until n_k there, in ascending order of the features.
 *
 * @param slices
 *   the rows whose labels each partition gets
 * @param partitionOf
 *   partition of each column, or -1 if the column is left out
 * @param widths
 *   for each partition, a width that holds its nonzeros
 */
private[data] final class Projection(slices: SliceBounds, partitionOf: Array[Int], widths: Array[Byte]) {

  /** Number of each column in its partition. */
  private val numbers = {
    val next = new Array[Int](widths.length)
    partitionOf.map { k =>
      if (k < 0) -1
      else {
        next(k) += 1
        next(k) - 1
      }
    }
  }

  /** Columns of each partition, ascending. Only dense blocks need them, whose columns are few. */
  private lazy val columns = Array.tabulate(widths.length)(ColumnAssignment.columns(partitionOf, _))

  /** The blocks of all partitions, which together take about as much memory as `block`. */
  def apply(block: RowBlock, firstRow: Int): Iterator[(Int, ColumnBlock)] = {
    val projected = block.matrix match {
      case sparse: SparseBlock => ofSparse(sparse)
      case dense: DenseBlock => Array.tabulate(widths.length)(ofDense(dense, _))
    }
    projected.iterator.zipWithIndex.map { case (matrix, k) => k -> ColumnBlock.of(block, firstRow, matrix, slices, k) }
  }

  private def ofSparse(block: SparseBlock): Array[SparseBlock] = {
    val sizes = sizesOf(block)
    val offsets = Array.fill(sizes.length)(new Array[Int](block.rows + 1))
    val indices = sizes.map(new Array[Int](_))
    val values = Array.tabulate(sizes.length)(k => allocate(k, block, sizes(k)))
    val next = new Array[Int](sizes.length)
    var at = 0
    var j = 0
    while (j < block.rows) {
      val end = block.offsets(j + 1)
      while (at < end) {
        val column = block.indices(at)
        val k = partitionOf(column)
        if (k >= 0) {
          val to = next(k)
          indices(k)(to) = numbers(column)
          values(k)(to) = block.values(at)
          next(k) = to + 1
        }
        at += 1
      }
      val rows = j + 1
      next.indices.foreach(k => offsets(k)(rows) = next(k))
      j = rows
    }
    Array.tabulate(sizes.length)(k =>
      new SparseBlock(block.at, block.rowsRead, offsets(k), indices(k), values(k), problem = null))
  }

  /** Number of nonzeros that go to each partition. */
  private def sizesOf(block: SparseBlock): Array[Int] = {
    val sizes = new Array[Int](widths.length)
    var at = 0
    while (at < block.indices.length) {
      val k = partitionOf(block.indices(at))
      if (k >= 0) sizes(k) += 1
      at += 1
    }
    sizes
  }

  private def ofDense(block: DenseBlock, k: Int): DenseBlock = {
    val own = columns(k)
    val values = allocate(k, block, block.rows * own.length)
    var nonzeros = 0
    var to = 0
    var j = 0
    while (j < block.rows) {
      val start = block.start(j)
      var i = 0
      while (i < own.length) {
        val value = block.values(start + own(i))
        if (value != 0.0) nonzeros += 1
        values(to) = value
        to += 1
        i += 1
      }
      j += 1
    }
    new DenseBlock(block.at, block.rowsRead, block.rows, own.length, nonzeros, values)
  }

  /** Room for `size` values of partition `k`, in the width of the block or of the partition. */
  private def allocate(k: Int, block: MatrixBlock, size: Int): NarrowValues = {
    // Ones have no zeros beside them.
    val width = if (block.isDense && widths(k) == NarrowValues.Ones) NarrowValues.Single else widths(k)
    NarrowValues.allocate(if (block.values.width < width) block.values.width else width, size)
  }
}
