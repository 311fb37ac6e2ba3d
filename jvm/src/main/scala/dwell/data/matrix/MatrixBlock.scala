package dwell.data.matrix

import org.apache.spark.unsafe.Platform

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}

/**
 * Validated vectors, dense or sparse: whichever takes less memory.
 *
 * @param at
 *   the place of the vectors in the source
 * @param rowsRead
 *   vectors read, those that are not kept included
 * @param rows
 *   vectors kept
 * @param values
 *   the stored values, row after row
 */
private[data] sealed abstract class MatrixBlock(
    override val at: BlockPlace,
    override val rowsRead: Int,
    override val rows: Int,
    val values: NarrowValues,
    val problem: String)
    extends Bulk[MatrixBlock]
    with ReadBlock {

  override protected def format: BulkFormat[MatrixBlock] = MatrixBlock

  /** The number of values other than 0. */
  def nonzeros: Int

  /** Whether zeros are stored, too. */
  def isDense: Boolean

  /** The position of the first stored value of row `j`; `rows` stands for the end. */
  def start(j: Int): Int

  /** The number of nonzeros of row `j`. */
  def nonzerosOf(j: Int): Int

  /** Half the square of the number of stored values of each row, added up: what the products of each row with itself take. */
  def pairs: Double = {
    var sum = 0.0
    var j = 0
    while (j < rows) {
      val stored = (start(j + 1) - start(j)).toDouble
      sum += 0.5 * stored * stored
      j += 1
    }
    sum
  }

  /** Calls `visit` with column and value of each nonzero of row `j`, in ascending order of the columns. */
  def eachNonzero(j: Int)(visit: (Int, Double) => Unit): Unit

  /** The same arrays at another place. */
  def placed(at: BlockPlace): MatrixBlock
}

/**
 * Vectors in compressed sparse row form, without zeros.
 *
 * @param offsets
 *   nonzeros of row j are at offsets(j) until offsets(j + 1)
 * @param indices
 *   column of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 */
private[data] final class SparseBlock(
    at: BlockPlace,
    rowsRead: Int,
    val offsets: Array[Int],
    val indices: Array[Int],
    values: NarrowValues,
    problem: String)
    extends MatrixBlock(at, rowsRead, offsets.length - 1, values, problem) {

  override def nonzeros: Int = indices.length

  override def isDense: Boolean = false

  override def bytes: Long = 4L * offsets.length + 4L * nonzeros + NarrowValues.bytes(values.width).toLong * nonzeros

  override lazy val fingerprint: Long = {
    val structure = MatrixBlock.hash(MatrixBlock.hash(at.partition.toLong, offsets), indices)
    MatrixBlock.hash(structure, values)
  }

  /** The same vectors with other numbers for their columns, in the same order. */
  def renumbered(number: Int => Int): SparseBlock =
    new SparseBlock(at, rowsRead, offsets, indices.map(number), values, problem)

  override def placed(at: BlockPlace): SparseBlock = new SparseBlock(at, rowsRead, offsets, indices, values, problem)

  override def start(j: Int): Int = offsets(j)

  override def nonzerosOf(j: Int): Int = offsets(j + 1) - offsets(j)

  override def eachNonzero(j: Int)(visit: (Int, Double) => Unit): Unit = {
    var at = offsets(j)
    while (at < offsets(j + 1)) {
      visit(indices(at), values(at))
      at += 1
    }
  }
}

/**
 * Vectors with all their values, row after row: the value of column i in row j is at j columns + i. Rows have at least
 * one column.
 *
 * @param columns
 *   length of a row
 */
private[data] final class DenseBlock(
    at: BlockPlace,
    rowsRead: Int,
    rows: Int,
    val columns: Int,
    override val nonzeros: Int,
    values: NarrowValues)
    extends MatrixBlock(at, rowsRead, rows, values, problem = null) {

  override lazy val fingerprint: Long =
    MatrixBlock.hash(MatrixBlock.hash(at.partition.toLong, Array(rows, columns)), values)

  override def bytes: Long = NarrowValues.bytes(values.width).toLong * rows * columns

  override def isDense: Boolean = true

  /** Whether no value is 0. */
  def isFull: Boolean = nonzeros == rows * columns

  override def placed(at: BlockPlace): DenseBlock = new DenseBlock(at, rowsRead, rows, columns, nonzeros, values)

  override def start(j: Int): Int = j * columns

  override def nonzerosOf(j: Int): Int =
    if (isFull) columns
    else {
      var nonzeros = 0
      eachNonzero(j)((_, _) => nonzeros += 1)
      nonzeros
    }

  override def eachNonzero(j: Int)(visit: (Int, Double) => Unit): Unit = {
    val first = j * columns
    var column = 0
    while (column < columns) {
      val value = values(first + column)
      if (value != 0.0) visit(column, value)
      column += 1
    }
  }
}

private[data] object MatrixBlock extends BulkFormat[MatrixBlock] {
  private val Sparse = 0
  private val Dense = 1

  override def write(block: MatrixBlock, out: BulkOutput): Unit = {
    block match {
      case sparse: SparseBlock =>
        out.int(Sparse)
        out.array(sparse.offsets)
        out.array(sparse.indices)
        out.text(sparse.problem)
      case dense: DenseBlock =>
        out.int(Dense)
        out.int(dense.rows)
        out.int(dense.columns)
        out.int(dense.nonzeros)
    }
    BlockPlace.write(block.at, out)
    out.int(block.rowsRead)
    NarrowValues.write(block.values, out)
  }

  override def read(in: BulkInput): MatrixBlock = in.int() match {
    case Sparse =>
      val (offsets, indices, problem) = (in.intArray(), in.intArray(), in.text())
      new SparseBlock(BlockPlace.read(in), in.int(), offsets, indices, NarrowValues.read(in), problem)
    case Dense =>
      val (rows, columns, nonzeros) = (in.int(), in.int(), in.int())
      new DenseBlock(BlockPlace.read(in), in.int(), rows, columns, nonzeros, NarrowValues.read(in))
  }

  /** The longest array that every JVM can allocate. */
  val MaxArrayLength: Int = Int.MaxValue - 15

  /** The largest number of rows of a partition: an array holds where each of them begins and where the last one ends. */
  val MaxRows: Int = MaxArrayLength - 1

  /** The length of an array that is to hold `needed` elements, and more before long. */
  def grown(needed: Int): Int =
    math.min(MaxArrayLength.toLong, math.max(needed.toLong, needed + (needed >> 1).toLong)).toInt

  /**
   * About how many values a piece of a block is cut from. All pieces that are cut at a time then take a few MiB, and are
   * large enough to be read and written in bulk.
   */
  val ValuesAtATime: Int = 1 << 19

  /**
   * The nonzeros of a partition must fit into one array, and so must its rows.
   *
   * @param what
   *   what is counted, for the message
   */
  def checkLoad(
      partition: Int,
      numPartitions: Int,
      count: Long,
      what: String = "nonzeros",
      most: Int = MaxArrayLength): Unit =
    if (count > most) {
      throw new IllegalArgumentException(
        s"Partition $partition of $numPartitions would hold $count $what, but an array holds $most. Raise numWorkers.")
    }

  private[data] def hash(seed: Long, array: Array[Int]): Long =
    hash(seed, array, Platform.INT_ARRAY_OFFSET, 4L * array.length)

  /** An absent array has a hash of its own. */
  private[data] def hash(seed: Long, array: Array[Float]): Long =
    if (array == null) mix(seed, -1L) else hash(seed, array, Platform.FLOAT_ARRAY_OFFSET, 4L * array.length)

  private[data] def hash(seed: Long, array: Array[Double]): Long =
    if (array == null) mix(seed, -1L) else hash(seed, array, Platform.DOUBLE_ARRAY_OFFSET, 8L * array.length)

  // Spark's XXH64 takes a third longer for doubles, and no more than 2 GiB. Four hashes take turns, since a processor
  // multiplies several numbers at a time.
  private def hash(seed: Long, array: AnyRef, offset: Int, bytes: Long): Long = {
    val end = offset + bytes
    val whole = end - (bytes & 31L)
    var h0, h1, h2, h3 = mix(seed, bytes)
    var at = offset.toLong
    while (at < whole) {
      h0 = mix(h0, Platform.getLong(array, at))
      h1 = mix(h1, Platform.getLong(array, at + 8L))
      h2 = mix(h2, Platform.getLong(array, at + 16L))
      h3 = mix(h3, Platform.getLong(array, at + 24L))
      at += 32L
    }
    while (at < end) {
      h0 = mix(h0, Platform.getInt(array, at).toLong)
      at += 4L
    }
    // Lanes that start alike must not cancel each other out.
    mix(mix(mix(mix(h0, 1L), h1), h2), h3)
  }

  private[data] def hash(seed: Long, values: NarrowValues): Long = hash(hash(seed, values.values32), values.values64)

  /** The hash of what has the hash `seed` so far, followed by what has the hash `next`. */
  private[data] def hash(seed: Long, next: Long): Long = mix(seed, next)

  private def mix(h: Long, x: Long): Long = {
    val z = (h ^ x) * 0x9e3779b97f4a7c15L
    // Not by 32: a number may be two floats, whose signs must not fall on each other.
    z ^ (z >>> 29)
  }
}
