package dwell.data.merge

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.{DenseBlock, ExcludedFeatures, MatrixBlock, NarrowValues, SparseBlock}

/**
 * The sizes of the vectors of one block that go to one partition of rows. A partition needs the sizes of all its vectors
 * before it can place the first.
 *
 * @param firstRow
 *   number of the block's first row in the whole dataset
 * @param blockRows
 *   number of rows of the block, including the rows of other partitions
 * @param counts
 *   number of nonzeros of each row of the partition
 * @param width
 *   the narrowest width that holds these nonzeros
 */
private[data] final class VectorSizes(val firstRow: Long, val blockRows: Int, val counts: Array[Int], val width: Byte) {

  /** Calls `use` with the position in `counts` of each of these rows, and with its place in the partition. */
  def eachPlace(partition: PartitionRows)(use: (Int, Int) => Unit): Unit = {
    var i = 0
    partition.eachPlace(firstRow, firstRow + blockRows) { (_, place) =>
      use(i, place)
      i += 1
    }
  }
}

private[data] object VectorSizes extends BulkFormat[VectorSizes] {

  /**
   * The sizes of a block's vectors, by partition.
   *
   * @param excluded
   *   features whose nonzeros are left out
   */
  def of(block: MatrixBlock, firstRow: Long, excluded: ExcludedFeatures, numPartitions: Int): Array[VectorSizes] =
    Array.tabulate(numPartitions) { k =>
      val counts = Array.newBuilder[Int]
      val most = block.values.width
      var width = NarrowValues.Ones
      RowDistribution.eachRow(k, numPartitions, firstRow, firstRow + block.rows) { (row, _) =>
        var count = 0
        block.eachNonzero((row - firstRow).toInt) { (column, value) =>
          if (!excluded(column)) {
            count += 1
            if (width < most) {
              val needed = NarrowValues.width(value)
              if (needed > width) width = needed
            }
          }
        }
        counts += count
      }
      new VectorSizes(firstRow, block.rows, counts.result(), width)
    }

  /** The sizes of all vectors of a block. */
  def whole(block: MatrixBlock, firstRow: Long, excluded: ExcludedFeatures): VectorSizes = {
    def all(count: Int => Int) =
      new VectorSizes(
        firstRow,
        block.rows,
        Array.tabulate(block.rows)(count),
        narrowest(block.values, block.start(block.rows)))
    block match {
      case sparse: SparseBlock if excluded.indices.isEmpty => all(j => sparse.start(j + 1) - sparse.start(j))
      case dense: DenseBlock if excluded.indices.isEmpty && dense.isFull => all(_ => dense.columns)
      case _ => of(block, firstRow, excluded, numPartitions = 1).head
    }
  }

  /** The narrowest width that holds the first `length` values. */
  private def narrowest(values: NarrowValues, length: Int): Byte = {
    val most = values.width
    var width = NarrowValues.Ones
    var at = 0
    while (at < length && width < most) {
      val needed = NarrowValues.width(values(at))
      if (needed > width) width = needed
      at += 1
    }
    width
  }

  override def write(sizes: VectorSizes, out: BulkOutput): Unit = {
    out.long(sizes.firstRow)
    out.int(sizes.blockRows)
    out.array(sizes.counts)
    out.int(sizes.width.toInt)
  }

  override def read(in: BulkInput): VectorSizes =
    new VectorSizes(in.long(), in.int(), in.intArray(), in.int().toByte)
}
