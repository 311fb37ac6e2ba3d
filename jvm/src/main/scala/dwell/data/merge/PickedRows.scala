package dwell.data.merge

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}
import dwell.data.matrix.{BlockPlace, DenseBlock, MatrixBlock, NarrowValues, PartitionForm, ReadBlock, SparseBlock}

/**
 * Rows of several blocks that make one block, in their order.
 *
 * @param blocks
 *   the position of the block of each row
 * @param rows
 *   the row's position in it
 */
private[data] final class PickedRows(val blocks: Array[Int], val rows: Array[Int]) {

  /** The number of rows. */
  def count: Int = rows.length

  /** The rows at the places `from` until `until` of an order of these rows. */
  def ordered(order: Array[Int], from: Int, until: Int): PickedRows = {
    val places = order.slice(from, until)
    new PickedRows(places.map(blocks(_)), places.map(rows(_)))
  }

  /** A number of each row; 1 where a block has none, and null if no block has any. */
  def numbers(from: Array[Array[Double]]): Array[Double] =
    if (from.forall(_ == null)) null
    else
      Array.tabulate(count) { i =>
        val own = from(blocks(i))
        if (own == null) 1.0 else own(rows(i))
      }

  /**
   * The vectors. They have the form and the width of the blocks. Where these differ they have the widest width, and a form that takes
   * little memory for all rows of the blocks.
   */
  def matrix(from: Array[MatrixBlock]): MatrixBlock = {
    val form = formOf(from)
    if (form.isDense) dense(from, form.width) else sparse(from, form.width)
  }

  private def formOf(from: Array[MatrixBlock]): PartitionForm = {
    val width = from.map(_.values.width).max
    from.collectFirst { case dense: DenseBlock => dense.columns } match {
      case None => PartitionForm(isDense = false, width)
      case Some(_) if from.forall(_.isDense) => PartitionForm(isDense = true, width)
      case Some(columns) =>
        val share = count / from.map(_.rows.toDouble).sum
        PartitionForm.smallest(count, columns, math.round(share * from.map(_.nonzeros.toDouble).sum), width)
    }
  }

  private def dense(from: Array[MatrixBlock], width: Byte): MatrixBlock = {
    val columns = from.collectFirst { case dense: DenseBlock => dense.columns }.get
    val values = NarrowValues.allocate(width, count * columns)
    var nonzeros = 0
    each(from) { (block, j, i) =>
      block match {
        case dense: DenseBlock => dense.values.copyTo(dense.start(j), dense.start(j + 1), values, i * columns)
        case sparse: SparseBlock => sparse.eachNonzero(j)((column, value) => values(i * columns + column) = value)
      }
      nonzeros += block.nonzerosOf(j)
    }
    new DenseBlock(place(from), count, count, columns, nonzeros, values)
  }

  private def sparse(from: Array[MatrixBlock], width: Byte): MatrixBlock = {
    val offsets = new Array[Int](count + 1)
    each(from)((block, j, i) => offsets(i + 1) = offsets(i) + block.nonzerosOf(j))
    val indices = new Array[Int](offsets.last)
    val values = NarrowValues.allocate(width, offsets.last)
    each(from) { (block, j, i) =>
      block match {
        case sparse: SparseBlock =>
          val start = sparse.start(j)
          System.arraycopy(sparse.indices, start, indices, offsets(i), offsets(i + 1) - offsets(i))
          sparse.values.copyTo(start, sparse.start(j + 1), values, offsets(i))
        case dense: DenseBlock =>
          var to = offsets(i)
          dense.eachNonzero(j) { (column, value) =>
            indices(to) = column
            values(to) = value
            to += 1
          }
      }
    }
    new SparseBlock(place(from), count, offsets, indices, values, problem = null)
  }

  private def place(from: Array[MatrixBlock]): BlockPlace = from.head.at

  /** Calls `use` with the block of each row, the row's position in it, and its position here. */
  private def each(from: Array[MatrixBlock])(use: (MatrixBlock, Int, Int) => Unit): Unit = {
    var i = 0
    while (i < count) {
      use(from(blocks(i)), rows(i), i)
      i += 1
    }
  }
}

private[data] object PickedRows {

  /** Some rows of one block. */
  def of(rows: Array[Int]): PickedRows = new PickedRows(new Array[Int](rows.length), rows)

  /** All rows of blocks of so many rows. */
  def all(counts: Array[Int]): PickedRows =
    new PickedRows(
      counts.indices.toArray.flatMap(block => Array.fill(counts(block))(block)),
      counts.flatMap(Array.range(0, _)))
}

/** Blocks of one kind, whose rows can make other blocks. */
private[data] trait PickedFormat[B <: ReadBlock] extends BulkFormat[B] {

  /** The vectors of a block. */
  def matrix(block: B): MatrixBlock

  /** The block of these rows of `from`. Its place is that of the first block. */
  def picked(from: Array[B], rows: PickedRows): B
}

/** Blocks that are vectors alone. */
private[data] object PickedMatrix extends PickedFormat[MatrixBlock] {
  override def matrix(block: MatrixBlock): MatrixBlock = block
  override def picked(from: Array[MatrixBlock], rows: PickedRows): MatrixBlock = rows.matrix(from)
  override def write(block: MatrixBlock, out: BulkOutput): Unit = MatrixBlock.write(block, out)
  override def read(in: BulkInput): MatrixBlock = MatrixBlock.read(in)
}
