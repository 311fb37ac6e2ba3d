package dwell.data.matrix

import dwell.base.SplitMix

/**
 * The sparse vectors of one block that go to one partition of rows.
 *
 * @param block
 *   index of the block; pieces are put together in this order
 * @param rows
 *   number of each row in the whole dataset, ascending
 * @param counts
 *   nonzeros of each row
 * @param indices
 *   feature of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 */
private[data] final class MatrixPiece(
    val block: Int,
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
 *   where each row of the pieces is, pieces in the order of their blocks
 */
private[data] final class PartitionMatrix(
    val rows: Array[Int],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues,
    val places: Array[Int])

/** Sparse rows to partitions: blocks are cut into pieces before the shuffle, pieces are put together after it. */
private[data] object RowDistribution {

  /**
   * Where row `row` goes. Of any K rows that follow one another from a multiple of K on, each partition gets one, so
   * partitions are equally large to within a row and get their share of every stretch of rows, as of a class in sorted
   * labels. Which one they get is hashed, so that no pattern of the rows repeats in a partition.
   */
  def partitionOf(row: Int, numPartitions: Int): Int = {
    val turn = (((SplitMix.mix(row / numPartitions + 1L) >>> 32) * numPartitions) >>> 32).toInt
    ((row % numPartitions + turn.toLong) % numPartitions).toInt
  }

  /**
   * Cuts a block into at most one piece per partition.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   */
  def cut(
      block: MatrixBlock,
      firstRow: Int,
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
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        if (!left(block.indices(at))) nonzerosOf(k) += 1
        at += 1
      }
      j += 1
    }

    val width = block.values.width
    val pieces = Array.tabulate(numPartitions) { k =>
      new MatrixPiece(
        block.index,
        new Array[Int](rowsOf(k)),
        new Array[Int](rowsOf(k)),
        new Array[Int](nonzerosOf(k)),
        NarrowValues.allocate(width, nonzerosOf(k)))
    }

    // From here on these are where the partition's next row and nonzero go within its piece.
    java.util.Arrays.fill(rowsOf, 0)
    java.util.Arrays.fill(nonzerosOf, 0)
    j = 0
    while (j < numRows) {
      val k = partitionOf(firstRow + j, numPartitions)
      val piece = pieces(k)
      val start = nonzerosOf(k)
      var target = start
      var at = block.offsets(j)
      while (at < block.offsets(j + 1)) {
        if (!left(block.indices(at))) {
          piece.indices(target) = block.indices(at)
          block.values.copyTo(at, at + 1, piece.values, target)
          target += 1
        }
        at += 1
      }
      nonzerosOf(k) = target
      val row = rowsOf(k)
      piece.rows(row) = firstRow + j
      piece.counts(row) = target - start
      rowsOf(k) = row + 1
      j += 1
    }
    pieces.iterator.zipWithIndex.collect { case (piece, k) if piece.rows.length > 0 => (k, piece) }
  }

  /**
   * Puts the pieces of one partition together.
   *
   * @param pieces
   *   in the order of their blocks
   * @param mixed
   *   whether the rows come in random order, the same for the same partition; else in that of the dataset
   */
  def merge(index: Int, numPartitions: Int, pieces: Array[MatrixPiece], mixed: Boolean): PartitionMatrix = {
    MatrixBlock.checkLoad(index, numPartitions, pieces.map(_.indices.length.toLong).sum)
    val numRows = pieces.map(_.rows.length).sum
    val nonzeros = pieces.map(_.indices.length).sum
    val rows = new Array[Int](numRows)
    val offsets = new Array[Int](numRows + 1)
    val indices = new Array[Int](nonzeros)
    val values = NarrowValues.allocate(pieces.map(_.values.narrowest).maxOption.getOrElse(NarrowValues.Ones), nonzeros)
    val places = if (mixed) permutation(index, numRows) else Array.range(0, numRows)
    // Of each piece, the number that its first row has among those of the partition before they are mixed.
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
        rows(place) = piece.rows(j)
        System.arraycopy(piece.indices, start, indices, offsets(place), piece.counts(j))
        piece.values.copyTo(start, until, values, offsets(place))
        start = until
        j += 1
      }
    }
    new PartitionMatrix(rows, offsets, indices, values, places)
  }

  /** The same for the same partition, so that rows which are lost are put together as they were. */
  private def permutation(partition: Int, rows: Int): Array[Int] = {
    val places = new Array[Int](rows)
    SplitMix.forEpoch(0L, partition, 0L).permute(places)
    places
  }
}
