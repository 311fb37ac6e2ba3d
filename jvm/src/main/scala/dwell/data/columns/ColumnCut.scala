package dwell.data.columns

import dwell.data.matrix.{DenseBlock, MatrixBlock, NarrowValues, PartitionForm, SparseBlock}

/** Cuts blocks of rows into pieces for the partitions of columns. */
private[data] object ColumnCut {

  /**
   * Cuts a block, some rows at a time, so that the pieces take little memory beside the block.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param partitionOf
   *   partition of each column, or -1 if the column is left out
   * @param widths
   *   for each partition, a width that holds its nonzeros
   * @param valuesAtATime
   *   about how many values to cut at a time
   * @return
   *   pieces, each with its partition
   */
  def apply(
      block: MatrixBlock,
      firstRow: Int,
      partitionOf: Array[Int],
      widths: Array[Byte],
      valuesAtATime: Int = MatrixBlock.ValuesAtATime): Iterator[(Int, ColumnPiece)] = {
    // Counts of all columns are taken for each cut: many columns want larger cuts. These take no more memory than counts.
    val atATime = math.max(valuesAtATime, partitionOf.length / 4)
    val counts = new Array[Int](partitionOf.length)
    block.stretches(atATime).flatMap { case (from, until) =>
      new Cut(block, firstRow, from, until, partitionOf, widths, counts).pieces
    }
  }

  /** Cuts the rows `from` until `until`, by a counting sort over the columns. */
  private final class Cut(
      block: MatrixBlock,
      firstRow: Int,
      from: Int,
      until: Int,
      partitionOf: Array[Int],
      widths: Array[Byte],
      counts: Array[Int]) {
    private val numPartitions = widths.length

    def pieces: Iterator[(Int, ColumnPiece)] = {
      java.util.Arrays.fill(counts, 0)
      block.countInto(counts, from, until)
      val sizes = Array.fill(numPartitions)(new Size)
      var column = 0
      while (column < counts.length) {
        if (isUsed(column)) sizes(partitionOf(column)).add(counts(column))
        column += 1
      }
      val targets = Array.tabulate(numPartitions)(k => if (sizes(k).columns == 0) null else target(k, sizes(k)))

      // From here on counts(column) is the position of the column's first value in a dense piece, of its next one in a
      // sparse piece, and negative if the column is in no piece.
      column = 0
      while (column < counts.length) {
        counts(column) = if (isUsed(column)) targets(partitionOf(column)).add(column, counts(column)) else -1
        column += 1
      }
      block match {
        case sparse: SparseBlock => distribute(sparse, targets)
        case dense: DenseBlock => distribute(dense, targets)
      }
      targets.iterator.zipWithIndex.collect { case (target, k) if target != null => (k, target.piece) }
    }

    private def isUsed(column: Int): Boolean = counts(column) > 0 && partitionOf(column) >= 0

    private def target(k: Int, size: Size): Target = {
      val width = if (block.values.width < widths(k)) block.values.width else widths(k)
      val rows = until - from
      // A sparse piece has the count of each column.
      val form = PartitionForm.smallest(size.columns, rows, size.nonzeros, width, sparseBytesMore = 4L * size.columns)
      new Target(form, firstRow + from, rows, size.columns, size.nonzeros)
    }

    private def distribute(block: SparseBlock, targets: Array[Target]): Unit = {
      val offsets = block.offsets
      val indices = block.indices
      val values = block.values
      var j = from
      var at = offsets(from)
      while (j < until) {
        val end = offsets(j + 1)
        while (at < end) {
          val column = indices(at)
          val position = counts(column)
          if (position >= 0) {
            val target = targets(partitionOf(column))
            if (target.rows == null) target.values.copyOne(values, at, position + j - from)
            else {
              target.rows(position) = firstRow + j
              target.values.copyOne(values, at, position)
              counts(column) = position + 1
            }
          }
          at += 1
        }
        j += 1
      }
    }

    private def distribute(block: DenseBlock, targets: Array[Target]): Unit = {
      // Several rows at a time, so that neither their values nor the ends of their columns leave the cache.
      val columns = block.columns
      var first = from
      while (first < until) {
        val end = math.min(until, first + RowsAtATime)
        var column = 0
        while (column < columns) {
          if (counts(column) >= 0) copyColumn(block, column, first, end, targets(partitionOf(column)))
          column += 1
        }
        first = end
      }
    }

    /** Copies the values of one column in the rows `first` until `end`. */
    private def copyColumn(block: DenseBlock, column: Int, first: Int, end: Int, target: Target): Unit =
      if (target.rows == null) {
        val start = first * block.columns + column
        target.values.copyStrided(block.values, start, block.columns, counts(column) + first - from, end - first)
      } else {
        val values = block.values
        var position = counts(column)
        var at = first * block.columns + column
        var j = first
        while (j < end) {
          if (values(at) != 0.0) {
            target.rows(position) = firstRow + j
            target.values.copyOne(values, at, position)
            position += 1
          }
          j += 1
          at += block.columns
        }
        counts(column) = position
      }
  }

  private final class Size {
    var columns = 0
    var nonzeros = 0L

    def add(count: Int): Unit = {
      columns += 1
      nonzeros += count
    }
  }

  /** A piece that is filled. */
  private final class Target(form: PartitionForm, firstRow: Int, numRows: Int, numColumns: Int, nonzeros: Long) {
    val values: NarrowValues = form.allocate(numColumns, numRows, nonzeros)

    /** Row of each nonzero; null if the piece is dense. */
    val rows: Array[Int] = if (form.isDense) null else new Array[Int](nonzeros.toInt)

    private val columns = new Array[Int](numColumns)
    private val counts = if (form.isDense) null else new Array[Int](numColumns)
    private var added = 0
    private var next = 0

    /** Adds a column with so many nonzeros; the position of its first value. */
    def add(column: Int, count: Int): Int = {
      val position = next
      columns(added) = column
      if (counts != null) counts(added) = count
      added += 1
      next += (if (form.isDense) numRows else count)
      position
    }

    def piece: ColumnPiece =
      if (form.isDense) new DenseColumnPiece(columns, firstRow, numRows, values)
      else new SparseColumnPiece(columns, counts, rows, values)
  }

  /** 28 columns of doubles then take 7 kB. */
  private val RowsAtATime = 32
}
