package dwell.data.matrix

import dwell.base.SplitMix

/**
 * Puts the vectors of one partition of rows together: first takes all their sizes, then the pieces one by one, both in
 * any order. Beside the partition itself it needs room for one piece.
 *
 * @param numRows
 *   number of rows of the whole dataset
 * @param numFeatures
 *   length of the vectors
 * @param mixed
 *   whether the rows come in random order, always the same for a partition; otherwise in the order of the dataset
 * @throws IllegalArgumentException
 *   if the partition has too many rows or nonzeros for one array
 */
private[data] final class MatrixMerge(
    index: Int,
    numPartitions: Int,
    numRows: Long,
    numFeatures: Int,
    mixed: Boolean,
    choice: PartitionForm.Choice,
    sizes: Iterator[VectorSizes]) {

  /** The number of rows of the partition. */
  val size: Int = {
    val size = RowDistribution.size(index, numPartitions, numRows)
    MatrixBlock.checkLoad(index, numPartitions, size, "rows", MatrixBlock.MaxRows)
    size.toInt
  }

  // Always the same for a partition, so that a lost partition comes out the same when Spark computes it again.
  private val places =
    if (!mixed) null
    else {
      val places = new Array[Int](size)
      SplitMix.forEpoch(0L, index, 0L).permute(places)
      places
    }

  /** Number of nonzeros of each row. */
  private val counts = new Array[Int](size)
  private val width = {
    var widest = NarrowValues.Ones
    sizes.foreach { s =>
      if (s.width > widest) widest = s.width
      eachPlace(s)((i, place) => counts(place) = s.counts(i))
    }
    widest
  }
  private val form = {
    var nonzeros = 0L
    counts.foreach(nonzeros += _)
    MatrixBlock.checkLoad(index, numPartitions, nonzeros)
    choice(size, numFeatures, nonzeros, width)
  }

  /** Values of row i are at offsets(i) until offsets(i + 1). */
  val offsets: Array[Int] = {
    val offsets = new Array[Int](size + 1)
    var i = 0
    while (i < size) {
      offsets(i + 1) = offsets(i) + (if (form.isDense) numFeatures else counts(i))
      i += 1
    }
    offsets
  }

  /** Feature of each value, ascending within a row; null if the partition is dense. */
  val indices: Array[Int] = if (form.isDense) null else new Array[Int](offsets.last)

  val values: NarrowValues = NarrowValues.allocate(form.width, offsets.last)

  /** Number of each row in the whole dataset. */
  val rows: Array[Long] = {
    val rows = new Array[Long](size)
    RowDistribution.eachRow(index, numPartitions, 0L, numRows)((row, position) => rows(placeOf(position)) = row)
    rows
  }

  /** Calls `use` with the position of each row of `sizes`, and with its place in the partition. */
  def eachPlace(sizes: VectorSizes)(use: (Int, Int) => Unit): Unit = {
    var i = 0
    RowDistribution.eachRow(index, numPartitions, sizes.firstRow, sizes.firstRow + sizes.blockRows) { (_, position) =>
      use(i, placeOf(position))
      i += 1
    }
  }

  private def placeOf(position: Int): Int = if (places == null) position else places(position)

  def add(piece: MatrixPiece): Unit = {
    var from = 0
    RowDistribution.eachRow(index, numPartitions, piece.from, piece.until) { (_, position) =>
      val place = placeOf(position)
      val start = offsets(place)
      if (piece.indices == null) {
        if (form.isDense) piece.values.copyTo(from, from + numFeatures, values, start)
        else sparse(piece, from, start)
        from += numFeatures
      } else {
        val until = from + counts(place)
        if (form.isDense) dense(piece, from, until, start)
        else {
          System.arraycopy(piece.indices, from, indices, start, until - from)
          piece.values.copyTo(from, until, values, start)
        }
        from = until
      }
    }
  }

  /** Copies the nonzeros of a dense row. */
  private def sparse(piece: MatrixPiece, from: Int, start: Int): Unit = {
    var to = start
    var feature = 0
    while (feature < numFeatures) {
      if (piece.values(from + feature) != 0.0) {
        indices(to) = feature
        values.copyOne(piece.values, from + feature, to)
        to += 1
      }
      feature += 1
    }
  }

  /** Copies the nonzeros of a sparse row to their features' places. */
  private def dense(piece: MatrixPiece, from: Int, until: Int, start: Int): Unit = {
    var at = from
    while (at < until) {
      values.copyOne(piece.values, at, start + piece.indices(at))
      at += 1
    }
  }
}
