package dwell.data

import org.apache.spark.ml.linalg.{DenseVector, SparseVector, Vector}

/**
 * The rows of one source partition in compressed sparse row form: validated, without zeros, without rows of weight 0.
 *
 * @param index
 *   index of the source partition
 * @param rowsRead
 *   rows read, those of weight 0 included
 * @param labels
 *   label of each row kept
 * @param weights
 *   weight of each row kept, or null where every weight is 1
 * @param offsets
 *   nonzeros of row j are at offsets(j) until offsets(j + 1)
 * @param indices
 *   feature index of each nonzero, ascending within a row
 * @param values
 *   value of each nonzero
 * @param problem
 *   what is wrong with the first bad row, or null. It is a value rather than an exception so that Spark does not try
 *   the partition again, and so that the driver can raise it undecorated.
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

  /** Rows kept. */
  def rows: Int = labels.length

  /** Hash of everything in the block, in order: equal blocks have equal fingerprints. */
  val fingerprint: Long = {
    val structure = RowBlock.hash(RowBlock.hash(index.toLong, offsets), indices)
    val numbers = RowBlock.hash(RowBlock.hash(structure, labels), weights)
    RowBlock.hash(RowBlock.hash(numbers, values.values32), values.values64)
  }

  /** Columns that have the same nonzero value in every row of this block, with that value. */
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

  /** Nonzeros of each column that has any, among `numFeatures` columns. */
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

  /** Nonzeros of each of `numFeatures` columns. */
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

/**
 * Nonzeros by column, for the columns that have any, ascending: a partition of text uses few of the columns that text
 * may be hashed to.
 */
private[data] final class ColumnCounts(val columns: Array[Int], val counts: Array[Int]) extends Serializable {

  def +(that: ColumnCounts): ColumnCounts = {
    val sumColumns = new Array[Int](columns.length + that.columns.length)
    val sumCounts = new Array[Int](sumColumns.length)
    var i = 0
    var j = 0
    var next = 0
    while (i < columns.length || j < that.columns.length) {
      val left = if (i < columns.length) columns(i) else Int.MaxValue
      val right = if (j < that.columns.length) that.columns(j) else Int.MaxValue
      sumColumns(next) = math.min(left, right)
      if (left <= right) {
        sumCounts(next) = counts(i)
        i += 1
      }
      if (right <= left) {
        sumCounts(next) += that.counts(j)
        j += 1
      }
      next += 1
    }
    new ColumnCounts(java.util.Arrays.copyOf(sumColumns, next), java.util.Arrays.copyOf(sumCounts, next))
  }

  def toDense(numFeatures: Int): Array[Int] = {
    val dense = new Array[Int](numFeatures)
    var i = 0
    while (i < columns.length) {
      dense(columns(i)) = counts(i)
      i += 1
    }
    dense
  }
}

/** What the driver needs to know of a block; labels and weights are little-endian doubles. */
private[data] final case class BlockSummary(
    index: Int,
    rowsRead: Long,
    rows: Int,
    nonzeros: Int,
    fingerprint: Long,
    labels: Array[Byte],
    weights: Array[Byte],
    constant: ConstantColumns,
    problem: String)

/** Columns, ascending, that have one value throughout, and that value. */
private[data] final case class ConstantColumns(indices: Array[Int], values: Array[Double]) {

  def intersect(that: ConstantColumns): ConstantColumns =
    intersect(that.indices, that.values.apply, 0, that.indices.length)

  /** Those that also occur at positions `from` until `until` of `otherIndices`, with the same value. */
  def intersect(otherIndices: Array[Int], otherValue: Int => Double, from: Int, until: Int): ConstantColumns = {
    val keptIndices = Array.newBuilder[Int]
    val keptValues = Array.newBuilder[Double]
    var i = 0
    var at = from
    while (i < indices.length && at < until) {
      if (indices(i) < otherIndices(at)) {
        i += 1
      } else if (indices(i) > otherIndices(at)) {
        at += 1
      } else {
        if (values(i) == otherValue(at)) {
          keptIndices += indices(i)
          keptValues += values(i)
        }
        i += 1
        at += 1
      }
    }
    ConstantColumns(keptIndices.result(), keptValues.result())
  }
}

private[data] object ConstantColumns {
  val Empty: ConstantColumns = ConstantColumns(Array.emptyIntArray, Array.emptyDoubleArray)
}

private[data] object RowBlock {

  /** Longest array that every JVM can allocate. */
  val MaxArrayLength: Int = Int.MaxValue - 15

  /** Rows of a block, whose labels travel to the driver as one array of bytes. */
  val MaxRows: Int = MaxArrayLength / 8

  /** Least and greatest count of a word; what the solver of topics can compute with. */
  val LeastCount: Double = 1e-6f.toDouble
  val GreatestCount: Double = 1e9

  /**
   * Reads one source partition.
   *
   * @param counts
   *   whether values are counts: not negative, and a row without any is left out
   */
  def read(
      index: Int,
      numFeatures: Int,
      rows: Iterator[LabeledRow],
      names: ColumnNames,
      counts: Boolean = false): RowBlock = {
    val builder = new RowBlockBuilder(index, numFeatures, names, counts)
    while (rows.hasNext && builder.problem == null) builder.add(rows.next())
    builder.result()
  }

  // One tight loop per array, outside of any constructor: the compiler treats those best.

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

/** Validates rows and appends them to growing arrays. The first problem stops it. */
private final class RowBlockBuilder(partition: Int, numFeatures: Int, names: ColumnNames, counts: Boolean) {
  var problem: String = _

  private var rowsRead = 0L
  private var rows = 0
  private var nonzeros = 0
  private var weighted = false
  private var labels = new Array[Double](64)
  private var weights = new Array[Double](64)
  private var offsets = new Array[Int](65)
  private var indices = new Array[Int](1024)
  private var values = new Array[Double](1024)

  def add(row: LabeledRow): Unit = {
    if (row.features == null) {
      fail(names.features, "the vector is null", "Drop the rows without features, for example with Dataset.na.drop")
    } else {
      checkLabelAndWeight(row)
      checkLength(row.features)
      if (problem == null) {
        // A row of weight 0 is written and validated like any other, but not kept.
        val start = nonzeros
        row.features match {
          case sparse: SparseVector => appendSparse(sparse)
          case dense: DenseVector => appendDense(dense.values)
        }
        if (row.weight > 0.0 && !(counts && nonzeros == start)) keep(row) else nonzeros = start
      }
    }
    rowsRead += 1
  }

  def result(): RowBlock = {
    // A bad block is never used, so it need not hold what came before the bad row.
    if (problem != null) {
      rows = 0
      nonzeros = 0
    }
    new RowBlock(
      partition,
      rowsRead,
      java.util.Arrays.copyOf(labels, rows),
      if (weighted) java.util.Arrays.copyOf(weights, rows) else null,
      java.util.Arrays.copyOf(offsets, rows + 1),
      java.util.Arrays.copyOf(indices, nonzeros),
      NarrowValues.of(values, nonzeros),
      problem)
  }

  private def keep(row: LabeledRow): Unit =
    if (rows == RowBlock.MaxRows) {
      fail(
        names.features,
        s"more than ${RowBlock.MaxRows} rows in one partition",
        "Split the data into more partitions, for example with Dataset.repartition")
    } else {
      if (rows == labels.length) {
        val length = grown(rows + 1)
        labels = java.util.Arrays.copyOf(labels, length)
        weights = java.util.Arrays.copyOf(weights, length)
        offsets = java.util.Arrays.copyOf(offsets, length + 1)
      }
      labels(rows) = row.label
      weights(rows) = row.weight
      if (row.weight != 1.0) weighted = true
      rows += 1
      offsets(rows) = nonzeros
    }

  private def checkLabelAndWeight(row: LabeledRow): Unit = {
    if (row.label.isNaN || row.label.isInfinite) {
      fail(names.label, s"label ${row.label}", "Labels must be finite: drop or repair such rows")
    } else if (row.weight.isNaN || row.weight.isInfinite || row.weight < 0.0) {
      fail(names.weight, s"weight ${row.weight}", "Weights must be finite and not negative; 0 leaves a row out")
    }
  }

  private def checkLength(features: Vector): Unit =
    if (features.size != numFeatures) {
      fail(
        names.features,
        s"a vector of length ${features.size} where $numFeatures was expected",
        "All vectors must have the same length: assemble them with the same stage")
    }

  private def appendDense(dense: Array[Double]): Unit = {
    reserve(dense.length)
    var i = 0
    while (i < dense.length && problem == null) {
      append(i, dense(i))
      i += 1
    }
  }

  private def appendSparse(sparse: SparseVector): Unit = {
    // Vectors check their indices when they are made, but their arrays can be changed afterwards.
    val at = sparse.indices
    reserve(at.length)
    var last = -1
    var i = 0
    while (i < at.length && problem == null) {
      if (at(i) < 0 || at(i) >= sparse.size) {
        fail(
          names.features,
          s"index ${at(i)} in a sparse vector of length ${sparse.size}",
          "Indices must be 0 to length - 1: build vectors with Vectors.sparse and leave their arrays alone")
      } else if (at(i) <= last) {
        fail(
          names.features,
          s"index ${at(i)} after index $last in a sparse vector",
          "Indices must ascend without repetition: build vectors with Vectors.sparse and leave their arrays alone")
      } else {
        append(at(i), sparse.values(i))
        last = at(i)
      }
      i += 1
    }
  }

  private def append(index: Int, value: Double): Unit =
    if (value.isNaN || value.isInfinite) {
      fail(
        names.features,
        s"value $value at index $index",
        "Features must be finite: drop such rows or impute them, for example with Imputer")
    } else if (counts && value != 0.0 && !(value >= RowBlock.LeastCount && value <= RowBlock.GreatestCount)) {
      fail(
        names.features,
        s"count $value at index $index",
        "Counts of words must be 0, or 1e-6 to 1e9: count them, for example, with CountVectorizer")
    } else if (value != 0.0) {
      indices(nonzeros) = index
      values(nonzeros) = value
      nonzeros += 1
    }

  private def reserve(more: Int): Unit = {
    val needed = nonzeros.toLong + more
    if (needed > RowBlock.MaxArrayLength) {
      fail(
        names.features,
        s"more than ${RowBlock.MaxArrayLength} values in one partition",
        "Split the data into more partitions, for example with Dataset.repartition")
    } else if (needed > indices.length) {
      val length = grown(needed.toInt)
      indices = java.util.Arrays.copyOf(indices, length)
      values = java.util.Arrays.copyOf(values, length)
    }
  }

  private def grown(needed: Int): Int =
    math.min(RowBlock.MaxArrayLength.toLong, math.max(needed.toLong, needed + (needed >> 1).toLong)).toInt

  private def fail(column: String, what: String, fix: String): Unit =
    if (problem == null) {
      problem = s"Column '$column', row $rowsRead of partition $partition (both counted from 0): $what. $fix."
    }
}
