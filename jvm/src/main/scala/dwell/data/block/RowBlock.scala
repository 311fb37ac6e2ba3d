package dwell.data.block

/**
 * The rows of one source partition in compressed sparse row form: validated, without zeros and without rows of weight
 * 0.
 *
 * @param index
 *   index of the source partition
 * @param rowsRead
 *   number of rows read, including those of weight 0
 * @param labels
 *   label of each row kept
 * @param weights
 *   weight of each row kept, or null if every weight is 1
 * @param offsets
 *   nonzeros of row j are at offsets(j) until offsets(j + 1)
 * @param indices
 *   feature index of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 * @param problem
 *   error message for the first bad row, or null. It is no exception, so that Spark does not try the partition again,
 *   and the driver can throw it without Spark's wrapper
 */
private[data] final class RowBlock(
    val index: Int,
    val rowsRead: Long,
    val labels: Array[Double],
    val weights: Array[Double],
    val offsets: Array[Int],
    val indices: Array[Int],
    val values: NarrowValues,
    val problem: String)
    extends Serializable {

  /** The number of rows kept. */
  def rows: Int = labels.length

  /** A hash of everything in the block, in order. Equal blocks have equal fingerprints. */
  val fingerprint: Long = {
    val structure = RowBlock.hash(RowBlock.hash(index.toLong, offsets), indices)
    val numbers = RowBlock.hash(RowBlock.hash(structure, labels), weights)
    RowBlock.hash(RowBlock.hash(numbers, values.values32), values.values64)
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

  /** The block's report to the driver. */
  def summary: BlockSummary = {
    val constant = constantColumns
    BlockSummary(
      index,
      rowsRead,
      rows,
      indices.length,
      fingerprint,
      DoubleBytes.pack(labels),
      if (weights == null) null else DoubleBytes.pack(weights),
      constant,
      problem)
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

private[data] object RowBlock {

  /** The longest array that every JVM can allocate. */
  val MaxArrayLength: Int = Int.MaxValue - 15

  /** The largest number of rows of a block: their labels travel to the driver as one array of bytes. */
  val MaxRows: Int = MaxArrayLength / 8

  /** The least and the greatest count of a word that the solver of topics accepts. */
  val LeastCount: Double = 1e-6f.toDouble
  val GreatestCount: Double = 1e9

  // One tight loop for each array, outside any constructor: the JIT compiler optimises those best.

  private def hash(seed: Long, array: Array[Int]): Long = {
    var h = mix(seed, array.length.toLong)
    var i = 0
    while (i < array.length) {
      h = mix(h, array(i).toLong)
      i += 1
    }
    h
  }

  /** An absent array has a hash of its own. */
  private def hash(seed: Long, array: Array[Float]): Long =
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

  private def hash(seed: Long, array: Array[Double]): Long =
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
