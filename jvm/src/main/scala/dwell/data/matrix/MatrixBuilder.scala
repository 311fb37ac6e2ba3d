package dwell.data.matrix

import org.apache.spark.ml.linalg.{DenseVector, SparseVector, Vector}

/**
 * Validates the vectors of one source partition and appends them to growing arrays, until the first problem.
 *
 * @param numColumns
 *   length that every vector must have
 * @param column
 *   name of the DataFrame column, for error messages
 */
private[data] final class MatrixBuilder(partition: Int, numColumns: Int, column: String) {
  private var first: String = _

  private var rowsRead = 0L
  private var rows = 0
  private var nonzeros = 0
  private var offsets = new Array[Int](65)
  private var indices = new Array[Int](1024)
  private var values = new Array[Double](1024)

  /** What is wrong with the first bad row, or null. */
  def problem: String = first

  /**
   * Reads one row.
   *
   * @param keep
   *   whether to keep it, asked once the vector is appended, with the positions where its nonzeros begin and end
   */
  def add(vector: Vector)(keep: (Int, Int) => Boolean): Unit = {
    val start = nonzeros
    if (vector == null) {
      fail(column, "the vector is null", "Drop the rows without features, for example with Dataset.na.drop")
    } else {
      checkLength(vector)
      if (first == null) {
        vector match {
          case sparse: SparseVector => appendSparse(sparse)
          case dense: DenseVector => appendDense(dense.values)
        }
      }
    }
    if (first == null && keep(start, nonzeros)) endRow() else nonzeros = start
    rowsRead += 1
  }

  /** The value of the nonzero at a position. */
  def value(at: Int): Double = values(at)

  /** The column of the nonzero at a position. */
  def index(at: Int): Int = indices(at)

  /** Reports a problem of the row that is read. */
  def fail(column: String, what: String, fix: String): Unit =
    if (first == null) {
      first = s"Column '$column', row $rowsRead of partition $partition (both counted from 0): $what. $fix."
    }

  /** The rows kept. No task uses a bad block, so it does not need the rows before the bad one. */
  def result(): MatrixBlock = {
    if (first != null) {
      rows = 0
      nonzeros = 0
    }
    new MatrixBlock(
      partition,
      rowsRead,
      java.util.Arrays.copyOf(offsets, rows + 1),
      java.util.Arrays.copyOf(indices, nonzeros),
      NarrowValues.of(values, nonzeros),
      first)
  }

  private def endRow(): Unit =
    if (rows == MatrixBlock.MaxRows) {
      fail(
        column,
        s"more than ${MatrixBlock.MaxRows} rows in one partition",
        "Split the data into more partitions, for example with Dataset.repartition")
    } else {
      rows += 1
      if (rows == offsets.length) offsets = java.util.Arrays.copyOf(offsets, MatrixBlock.grown(rows + 1))
      offsets(rows) = nonzeros
    }

  private def checkLength(vector: Vector): Unit =
    if (vector.size != numColumns) {
      fail(
        column,
        s"a vector of length ${vector.size} where $numColumns was expected",
        "All vectors must have the same length: assemble them with the same stage")
    }

  private def appendDense(dense: Array[Double]): Unit = {
    reserve(dense.length)
    var i = 0
    while (i < dense.length && first == null) {
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
    while (i < at.length && first == null) {
      if (at(i) < 0 || at(i) >= sparse.size) {
        fail(
          column,
          s"index ${at(i)} in a sparse vector of length ${sparse.size}",
          "Indices must be 0 to length - 1: build vectors with Vectors.sparse and leave their arrays alone")
      } else if (at(i) <= last) {
        fail(
          column,
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
        column,
        s"value $value at index $index",
        "Features must be finite: drop such rows or impute them, for example with Imputer")
    } else if (value != 0.0) {
      indices(nonzeros) = index
      values(nonzeros) = value
      nonzeros += 1
    }

  private def reserve(more: Int): Unit = {
    val needed = nonzeros.toLong + more
    if (needed > MatrixBlock.MaxArrayLength) {
      fail(
        column,
        s"more than ${MatrixBlock.MaxArrayLength} values in one partition",
        "Split the data into more partitions, for example with Dataset.repartition")
    } else if (needed > indices.length) {
      val length = MatrixBlock.grown(needed.toInt)
      indices = java.util.Arrays.copyOf(indices, length)
      values = java.util.Arrays.copyOf(values, length)
    }
  }
}
