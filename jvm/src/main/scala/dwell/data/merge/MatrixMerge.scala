package dwell.data.merge

import dwell.data.matrix.{MatrixBlock, NarrowValues, PartitionForm}

/**
 * Puts the vectors of one partition of rows together: first takes all their sizes, then the pieces one by one, both in
 * any order. Beside the partition itself it needs room for one piece.
 *
 * @param numFeatures
 *   length of the vectors
 * @throws IllegalArgumentException
 *   if the partition has too many nonzeros for one array
 */
private[data] final class MatrixMerge(
    rows: PartitionRows,
    numFeatures: Int,
    choice: PartitionForm.Choice,
    sizes: Iterator[VectorSizes]) {
  private val size = rows.size

  /** Number of nonzeros of each row. */
  private val counts = new Array[Int](size)
  private val width = {
    var widest = NarrowValues.Ones
    sizes.foreach { s =>
      if (s.width > widest) widest = s.width
      s.eachPlace(rows)((i, place) => counts(place) = s.counts(i))
    }
    widest
  }
  private val form = {
    var nonzeros = 0L
    counts.foreach(nonzeros += _)
    MatrixBlock.checkLoad(rows.index, rows.numPartitions, nonzeros)
    choice(size, numFeatures, nonzeros, width)
  }

  private val offsets = {
    val offsets = new Array[Int](size + 1)
    var i = 0
    while (i < size) {
      offsets(i + 1) = offsets(i) + (if (form.isDense) numFeatures else counts(i))
      i += 1
    }
    offsets
  }

  private val indices = if (form.isDense) null else new Array[Int](offsets.last)

  private val values = NarrowValues.allocate(form.width, offsets.last)

  /** The partition, complete once all pieces are added. */
  def result: PartitionMatrix = new PartitionMatrix(rows.numbers, offsets, indices, values)

  def add(piece: MatrixPiece): Unit = {
    var from = 0
    rows.eachPlace(piece.from, piece.until) { (_, place) =>
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
