package dwell.data.matrix

import dwell.base.SplitMix

/**
 * The sparse vectors of one block that go to one partition of rows.
 *
 * @param block
 *   index of the block; pieces are merged in this order
 * @param firstRow
 *   number of the block's first row in the whole dataset
 * @param rows
 *   position of each row in the block, ascending
 * @param counts
 *   number of nonzeros of each row
 * @param indices
 *   feature of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 */
private[data] final class MatrixPiece(
    val block: Int,
    val firstRow: Long,
    val rows: Array[Int],
    val counts: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues)
    extends Serializable

/**
 * The sparse vectors of one partition of rows, in compressed sparse row form.
 *
 * @param rows
 *   number of each row in the whole dataset
 * @param places
 *   position of each row of the pieces in the partition; pieces in the order of their blocks
 */
private[data] final class PartitionMatrix(
    val rows: Array[Long],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues,
    val places: Array[Int])

/** Moves sparse rows to partitions: cuts blocks into pieces before the shuffle, merges the pieces after it. */
private[data] object RowDistribution {

  /**
   * The partition of row `row`. Each partition gets one of any K consecutive rows that start at a multiple of K. Sizes
   * of partitions therefore differ by at most one row, and each gets its share of every stretch of rows, for example of
   * a class if labels are sorted. A hash decides which of the K rows it gets, so that a partition does not repeat a
   * pattern of the rows.
   */
  def partitionOf(row: Long, numPartitions: Int): Int = {
    val turn = ((SplitMix.mix(row / numPartitions + 1L) >>> 32) * numPartitions) >>> 32
    ((row % numPartitions + turn) % numPartitions).toInt
  }

  /**
   * Cuts a block into at most one piece for each partition.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   */
  def cut(
      block: MatrixBlock,
      firstRow: Long,
      numFeatures: Int,
      excluded: Array[Int],
      numPartitions: Int): Iterator[(Int, MatrixPiece)] = {
    val left = new Array[Boolean](numFeatures)
    excluded.foreach(left(_) = true)
    val numRows = block.rows
    val rowsOf = new Array[Int](numPartitions)
    val nonzerosOf = new Array[Int](numPartitions)
    var j = 0
    while (j < numRows) {
      val k = partitionOf(firstRow + j, numPartitions)
      rowsOf(k) += 1
      block.eachNonzero(j)((column, _) => if (!left(column)) nonzerosOf(k) += 1)
      j += 1
    }

    val width = block.values.width
    val pieces = Array.tabulate(numPartitions) { k =>
      new MatrixPiece(
        block.index,
        firstRow,
        new Array[Int](rowsOf(k)),
        new Array[Int](rowsOf(k)),
        new Array[Int](nonzerosOf(k)),
        NarrowValues.allocate(width, nonzerosOf(k)))
    }

    // From here on these are the positions of the partition's next row and nonzero in its piece.
    java.util.Arrays.fill(rowsOf, 0)
    java.util.Arrays.fill(nonzerosOf, 0)
    j = 0
    while (j < numRows) {
      val k = partitionOf(firstRow + j, numPartitions)
      val piece = pieces(k)
      val start = nonzerosOf(k)
      var target = start
      block.eachNonzero(j) { (column, value) =>
        if (!left(column)) {
          piece.indices(target) = column
          piece.values(target) = value
          target += 1
        }
      }
      nonzerosOf(k) = target
      val row = rowsOf(k)
      piece.rows(row) = j
      piece.counts(row) = target - start
      rowsOf(k) = row + 1
      j += 1
    }
    pieces.iterator.zipWithIndex.collect { case (piece, k) if piece.rows.length > 0 => (k, piece) }
  }

  /**
   * Merges the pieces of one partition.
   *
   * @param pieces
   *   in the order of their blocks
   * @param mixed
   *   whether the rows come in random order, always the same for a partition; otherwise in the order of the dataset
   * @throws IllegalArgumentException
   *   if the partition has too many rows or nonzeros for one array
   */
  def merge(index: Int, numPartitions: Int, pieces: Array[MatrixPiece], mixed: Boolean): PartitionMatrix = {
    MatrixBlock.checkLoad(index, numPartitions, pieces.map(_.indices.length.toLong).sum)
    MatrixBlock.checkLoad(index, numPartitions, pieces.map(_.rows.length.toLong).sum, "rows", MatrixBlock.MaxRows)
    val numRows = pieces.map(_.rows.length).sum
    val nonzeros = pieces.map(_.indices.length).sum
    val rows = new Array[Long](numRows)
    val offsets = new Array[Int](numRows + 1)
    val indices = new Array[Int](nonzeros)
    val values = NarrowValues.allocate(pieces.map(_.values.narrowest).maxOption.getOrElse(NarrowValues.Ones), nonzeros)
    val places = if (mixed) permutation(index, numRows) else Array.range(0, numRows)
    // The position of each piece's first row in the partition, before rows are mixed.
    val firsts = pieces.scanLeft(0)(_ + _.rows.length)
    pieces.zip(firsts).foreach { case (piece, first) =>
      var j = 0
      while (j < piece.rows.length) {
        offsets(places(first + j) + 1) = piece.counts(j)
        j += 1
      }
    }
    (0 until numRows).foreach(row => offsets(row + 1) += offsets(row))
    pieces.zip(firsts).foreach { case (piece, first) =>
      var start, j = 0
      while (j < piece.rows.length) {
        val place = places(first + j)
        val until = start + piece.counts(j)
        rows(place) = piece.firstRow + piece.rows(j)
        System.arraycopy(piece.indices, start, indices, offsets(place), piece.counts(j))
        piece.values.copyTo(start, until, values, offsets(place))
        start = until
        j += 1
      }
    }
    new PartitionMatrix(rows, offsets, indices, values, places)
  }

  /** Always the same for a partition, so that a lost partition comes out the same when Spark computes it again. */
  private def permutation(partition: Int, rows: Int): Array[Int] = {
    val places = new Array[Int](rows)
    SplitMix.forEpoch(0L, partition, 0L).permute(places)
    places
  }
}
