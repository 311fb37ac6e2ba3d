package dwell.data.matrix

/**
 * Vectors of one source partition in compressed sparse row form: validated, and without zeros.
 *
 * @param index
 *   index of the source partition
 * @param rowsRead
 *   vectors read, those that are not kept included
 * @param offsets
 *   nonzeros of row j are at offsets(j) until offsets(j + 1)
 * @param indices
 *   column of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 */
private[data] final class MatrixBlock(
    val index: Int,
    val rowsRead: Long,
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues,
    val problem: String)
    extends ReadBlock {

  /** The number of rows kept. */
  def rows: Int = offsets.length - 1

  override val fingerprint: Long = {
    val structure = MatrixBlock.hash(MatrixBlock.hash(index.toLong, offsets), indices)
    MatrixBlock.hash(MatrixBlock.hash(structure, values.values32), values.values64)
  }

  /** The columns that have the same nonzero value in every row of this block, with that value. */
  def constantColumns: ConstantColumns =
    if (rows == 0) ConstantColumns.Empty
    else {
      var constant = row(0)
      var j = 1
      while (j < rows && constant.indices.length > 0) {
        constant = constant.intersect(indices, values.apply, offsets(j), offsets(j + 1))
        j += 1
      }
      constant
    }

  private def row(j: Int): ConstantColumns = {
    val from = offsets(j)
    val length = offsets(j + 1) - from
    ConstantColumns(indices.slice(from, from + length), Array.tabulate(length)(i => values(from + i)))
  }

  /** The number of nonzeros of each column that has any; column indices are below `numFeatures`. */
  def columnCounts(numFeatures: Int): ColumnCounts = {
    val dense = denseCounts(numFeatures)
    val used = dense.count(_ > 0)
    val columns = new Array[Int](used)
    val counts = new Array[Int](used)
    var next = 0
    var column = 0
    while (next < used) {
      if (dense(column) > 0) {
        columns(next) = column
        counts(next) = dense(column)
        next += 1
      }
      column += 1
    }
    new ColumnCounts(columns, counts)
  }

  /** The number of nonzeros of each of `numFeatures` columns. */
  def denseCounts(numFeatures: Int): Array[Int] = {
    val counts = new Array[Int](numFeatures)
    var i = 0
    while (i < indices.length) {
      counts(indices(i)) += 1
      i += 1
    }
    counts
  }
}

private[data] object MatrixBlock {

  /** The longest array that every JVM can allocate. */
  val MaxArrayLength: Int = Int.MaxValue - 15

  /** The largest number of rows of a block: a double for each of them fits into one array of bytes. */
  val MaxRows: Int = MaxArrayLength / 8

  /** The length of an array that is to hold `needed` elements, and more before long. */
  def grown(needed: Int): Int =
    math.min(MaxArrayLength.toLong, math.max(needed.toLong, needed + (needed >> 1).toLong)).toInt

  /** The nonzeros of a partition must fit into one array. */
  def checkLoad(partition: Int, numPartitions: Int, nonzeros: Long): Unit =
    if (nonzeros > MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Partition $partition of $numPartitions would hold $nonzeros nonzeros, but an array holds " +
          s"${MaxArrayLength}. Raise numWorkers.")
    }

  // One tight loop for each array, outside any constructor: the JIT compiler optimises those best.

  private[data] def hash(seed: Long, array: Array[Int]): Long = {
    var h = mix(seed, array.length.toLong)
    var i = 0
    while (i < array.length) {
      h = mix(h, array(i).toLong)
      i += 1
    }
    h
  }

  /** An absent array has a hash of its own. */
  private[data] def hash(seed: Long, array: Array[Float]): Long =
    if (array == null) mix(seed, -1L)
    else {
      var h = mix(seed, array.length.toLong)
      var i = 0
      while (i < array.length) {
        h = mix(h, java.lang.Float.floatToRawIntBits(array(i)).toLong)
        i += 1
      }
      h
    }

  private[data] def hash(seed: Long, array: Array[Double]): Long =
    if (array == null) mix(seed, -1L)
    else {
      var h = mix(seed, array.length.toLong)
      var i = 0
      while (i < array.length) {
        h = mix(h, java.lang.Double.doubleToRawLongBits(array(i)))
        i += 1
      }
      h
    }

  private def mix(h: Long, x: Long): Long = {
    val z = (h ^ x) * 0x9e3779b97f4a7c15L
    z ^ (z >>> 32)
  }
}
