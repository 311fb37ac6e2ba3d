package dwell.data.merge

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.{DenseBlock, ExcludedFeatures, MatrixBlock, NarrowValues, SparseBlock}

/**
 * Vectors of one block that go to one partition of rows: the vectors of the partition's rows from `from` until `until`.
 *
 * @param indices
 *   feature of each nonzero, ascending within a row; null if the vectors are dense
 * @param values
 *   the values, row after row
 */
private[data] final class MatrixPiece(
    val from: Long,
    val until: Long,
    val indices: Array[Int],
    val values: NarrowValues)

private[data] object MatrixPiece extends BulkFormat[MatrixPiece] {

  /**
   * Cuts a block into pieces, some rows at a time, so that the pieces take little memory beside the block. They are dense
   * if the block is.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   * @param valuesAtATime
   *   about how many values to cut at a time
   * @return
   *   pieces, each with its partition
   */
  def cut(
      block: MatrixBlock,
      firstRow: Long,
      excluded: ExcludedFeatures,
      numPartitions: Int,
      valuesAtATime: Int = MatrixBlock.ValuesAtATime): Iterator[(Int, MatrixPiece)] =
    block.stretches(valuesAtATime).flatMap { case (from, until) =>
      (0 until numPartitions).iterator
        .map(k => (k, piece(block, firstRow, from, until, excluded, k, numPartitions)))
        .filter { case (_, piece) => piece != null }
    }

  /**
   * All vectors of a block, in one piece or several. One piece takes no memory of its own.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   */
  def whole(block: MatrixBlock, firstRow: Long, excluded: ExcludedFeatures): Iterator[MatrixPiece] =
    if (excluded.indices.isEmpty) {
      val indices = block match {
        case sparse: SparseBlock => sparse.indices
        case _: DenseBlock => null
      }
      Iterator.single(new MatrixPiece(firstRow, firstRow + block.rows, indices, block.values))
    } else cut(block, firstRow, excluded, numPartitions = 1).map(_._2)

  private def piece(
      block: MatrixBlock,
      firstRow: Long,
      from: Int,
      until: Int,
      excluded: ExcludedFeatures,
      k: Int,
      numPartitions: Int): MatrixPiece = {
    def eachRow(use: Int => Unit): Unit =
      RowDistribution.eachRow(k, numPartitions, firstRow + from, firstRow + until)((row, _) =>
        use((row - firstRow).toInt))

    var rows = 0
    var stored = 0
    eachRow { j =>
      rows += 1
      stored += block.start(j + 1) - block.start(j)
    }
    if (rows == 0) null
    else {
      val matrix = block match {
        case dense: DenseBlock => (null, denseValues(dense, eachRow, stored, excluded))
        case sparse: SparseBlock => sparseValues(sparse, eachRow, stored, excluded)
      }
      new MatrixPiece(firstRow + from, firstRow + until, matrix._1, matrix._2)
    }
  }

  private def denseValues(
      block: DenseBlock,
      eachRow: (Int => Unit) => Unit,
      stored: Int,
      excluded: ExcludedFeatures): NarrowValues = {
    val values = NarrowValues.allocate(block.values.width, stored)
    var to = 0
    eachRow { j =>
      block.values.copyTo(block.start(j), block.start(j + 1), values, to)
      excluded.indices.foreach(feature => values(to + feature) = 0.0)
      to += block.columns
    }
    values
  }

  private def sparseValues(
      block: SparseBlock,
      eachRow: (Int => Unit) => Unit,
      stored: Int,
      excluded: ExcludedFeatures): (Array[Int], NarrowValues) = {
    val indices = new Array[Int](stored)
    val values = NarrowValues.allocate(block.values.width, stored)
    var to = 0
    eachRow { j =>
      var at = block.offsets(j)
      val end = block.offsets(j + 1)
      if (excluded.indices.isEmpty) {
        System.arraycopy(block.indices, at, indices, to, end - at)
        block.values.copyTo(at, end, values, to)
        to += end - at
      } else {
        while (at < end) {
          if (!excluded(block.indices(at))) {
            indices(to) = block.indices(at)
            values.copyOne(block.values, at, to)
            to += 1
          }
          at += 1
        }
      }
    }
    if (to == stored) (indices, values) else (java.util.Arrays.copyOf(indices, to), values.first(to))
  }

  override def write(piece: MatrixPiece, out: BulkOutput): Unit = {
    out.long(piece.from)
    out.long(piece.until)
    out.array(piece.indices)
    NarrowValues.write(piece.values, out)
  }

  override def read(in: BulkInput): MatrixPiece =
    new MatrixPiece(in.long(), in.long(), in.intArray(), NarrowValues.read(in))
}
