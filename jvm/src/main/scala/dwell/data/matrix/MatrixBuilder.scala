package dwell.data.matrix

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData

/**
 * Reads vectors of one source partition from Spark's memory, and validates them, until the first problem or until the
 * block is large enough.
 *
 * @param place
 *   of the first vector
 * @param numColumns
 *   length that every vector must have
 * @param column
 *   name of the DataFrame column, for error messages
 * @param mayBeDense
 *   whether the block is dense where that takes less memory
 */
private[data] final class MatrixBuilder(
    place: BlockPlace,
    numColumns: Int,
    column: String,
    mayBeDense: Boolean = true) {
  import MatrixBuilder._

  private var first: String = _

  private var rowsRead = 0
  private var rows = 0
  private var nonzeros = 0

  /** Values stored in chunks that are closed. */
  private var stored = 0L

  /** The narrowest width that holds every nonzero. */
  private var width = NarrowValues.Ones

  /** Number of nonzeros of each row. */
  private var counts = new Array[Int](64)
  private val closed = mutable.ArrayBuffer.empty[VectorChunk]
  private var chunk = new VectorChunk(isDense = false, numColumns, FirstCapacity)

  // The row that is read: where its values begin in the chunk, how many of them are not 0, and their width.
  private var start = 0
  private var count = 0
  private var rowWidth = NarrowValues.Ones

  /** What is wrong with the first bad row, or null. */
  def problem: String = first

  /** Whether no vector has been read. */
  def isEmpty: Boolean = rowsRead == 0

  /** Whether the block takes no more vectors. */
  def isFull: Boolean = first != null || stored + chunk.length + rows >= mostValues || rowsRead == MostRowsRead

  // A block may be as large as one counter for each column, so that wide data is cut less often.
  private def mostValues: Int = math.max(MatrixBlock.ValuesAtATime, numColumns / 4)

  /**
   * Reads one vector.
   *
   * @param row
   *   holds the vector; it is copied
   * @param ordinal
   *   the vector's position in the row
   * @param keep
   *   whether to keep the vector; asked once it is read
   */
  def add(row: InternalRow, ordinal: Int)(keep: => Boolean): Unit = {
    if (row.isNullAt(ordinal)) {
      fail(
        column,
        "the vector is null: Vectors MUST NOT be Null",
        "Drop the rows without features, for example with Dataset.na.drop")
    } else {
      val vector = row.getStruct(ordinal, StoredVector.NumFields)
      val (indices, values) = (StoredVector.indices(vector), StoredVector.array(vector, StoredVector.Values))
      val wrong = StoredVector.problem(vector, indices, values)
      count = 0
      rowWidth = width
      if (wrong != null) fail(column, wrong, StoredVector.Fix)
      else if (indices == null) addDense(values)
      else addSparse(vector.getInt(StoredVector.Size), indices, values)
      if (first == null && keep && first == null) endRow() else chunk.length = start
    }
    rowsRead += 1
  }

  /** Calls `visit` with column and value of each nonzero of the vector that is read, as long as there is no problem. */
  def eachNonzero(visit: (Int, Double) => Unit): Unit = {
    var at = start
    while (at < chunk.length && first == null) {
      if (chunk.values(at) != 0.0) visit(if (chunk.isDense) at - start else chunk.indices(at), chunk.values(at))
      at += 1
    }
  }

  /** Reports a problem of the row that is read. */
  def fail(column: String, what: String, fix: String): Unit =
    if (first == null) {
      first =
        s"Column '$column', row ${place.rowsRead + rowsRead} of partition ${place.partition} (both counted from 0): " +
          s"$what. $fix."
    }

  /** The rows kept. No task uses a bad block, so it does not need the rows before the bad one. */
  def result(): MatrixBlock = {
    if (first != null) {
      rows = 0
      nonzeros = 0
      closed.clear()
    } else {
      close()
    }
    // Only a sparse block has offsets.
    val form =
      if (mayBeDense)
        PartitionForm.smallest(rows, numColumns, nonzeros.toLong, width, sparseBytesMore = 4L * (rows + 1L))
      else PartitionForm(isDense = false, width)
    val values = form.allocate(rows, numColumns, nonzeros.toLong)
    if (form.isDense) dense(values) else sparse(values)
  }

  private def dense(values: NarrowValues): MatrixBlock = {
    eachChunk { (chunk, firstRow) => chunk.copyTo(values, firstRow * numColumns, counts, firstRow) }
    new DenseBlock(place, rowsRead, rows, numColumns, nonzeros, values)
  }

  private def sparse(values: NarrowValues): MatrixBlock = {
    val offsets = new Array[Int](rows + 1)
    var row = 0
    while (row < rows) {
      offsets(row + 1) = offsets(row) + counts(row)
      row += 1
    }
    val indices = new Array[Int](nonzeros)
    eachChunk { (chunk, firstRow) => chunk.copyTo(indices, values, offsets(firstRow)) }
    new SparseBlock(place, rowsRead, offsets, indices, values, first)
  }

  /** Calls `use` with each chunk and the number of its first row. Forgets chunks one by one, to give their memory back. */
  private def eachChunk(use: (VectorChunk, Int) => Unit): Unit = {
    var firstRow = 0
    closed.indices.foreach { i =>
      val chunk = closed(i)
      use(chunk, firstRow)
      firstRow += chunk.rows
      closed(i) = null
    }
    closed.clear()
  }

  private def endRow(): Unit = {
    if (rows == counts.length) counts = java.util.Arrays.copyOf(counts, MatrixBlock.grown(rows + 1))
    counts(rows) = count
    rows += 1
    chunk.rows += 1
    nonzeros += count
    width = rowWidth
  }

  private def addDense(stored: ArrayData): Unit =
    if (hasLength(stored.numElements())) {
      makeRoom(isDense = true, numColumns)
      val values = chunk.values
      StoredVector.copy(stored, numColumns, values, start)
      val end = start + numColumns
      var at = start
      while (at < end) {
        val value = values(at)
        if (value != 0.0) {
          count += 1
          if (rowWidth < NarrowValues.Double) widen(value)
          if (!isFinite(value)) failForValue(at - start, value)
        }
        at += 1
      }
      chunk.length = end
    }

  private def addSparse(size: Int, storedIndices: ArrayData, storedValues: ArrayData): Unit =
    if (hasLength(size)) {
      val length = storedIndices.numElements()
      makeRoom(isDense = false, length)
      val (indices, values) = (chunk.indices, chunk.values)
      StoredVector.copy(storedIndices, length, indices, start)
      StoredVector.copy(storedValues, length, values, start)
      val end = start + length
      var last = -1
      var target = start
      var at = start
      while (at < end) {
        val index = indices(at)
        val value = values(at)
        if (index <= last || index >= numColumns) failForIndex(index, last)
        last = index
        if (value != 0.0) {
          if (rowWidth < NarrowValues.Double) widen(value)
          if (!isFinite(value)) failForValue(index, value)
          indices(target) = index
          values(target) = value
          target += 1
        }
        at += 1
      }
      count = target - start
      chunk.length = target
    }

  private def widen(value: Double): Unit = {
    val needed = NarrowValues.width(value)
    if (needed > rowWidth) rowWidth = needed
  }

  private def isFinite(value: Double): Boolean = math.abs(value) <= Double.MaxValue

  private def hasLength(length: Int): Boolean = {
    val expected = length == numColumns
    if (!expected) {
      fail(
        column,
        s"a vector of length $length where $numColumns was expected",
        "All vectors must have the same length: assemble them with the same stage")
    }
    expected
  }

  private def failForValue(index: Int, value: Double): Unit =
    fail(
      column,
      s"value $value at index $index: Vector values MUST NOT be NaN or Infinity",
      "Features must be finite: drop such rows or impute them, for example with Imputer")

  // Vectors check their indices when they are made, but their arrays can be changed afterwards, and files can hold anything.
  private def failForIndex(index: Int, last: Int): Unit =
    if (index < 0 || index >= numColumns) {
      fail(
        column,
        s"index $index in a sparse vector of length $numColumns",
        "Indices must be 0 to length - 1: build vectors with Vectors.sparse and leave their arrays alone")
    } else {
      fail(
        column,
        s"index $index after index $last in a sparse vector",
        "Indices must ascend without repetition: build vectors with Vectors.sparse and leave their arrays alone")
    }

  /** Makes the chunk one that holds such rows and has room for `length` more values. */
  private def makeRoom(isDense: Boolean, length: Int): Unit = {
    if (chunk.isDense != isDense || !chunk.hasRoom(length)) {
      close()
      val capacity = math.min(MostCapacity.toLong, math.max(FirstCapacity.toLong, 2L * nonzeros)).toInt
      chunk = new VectorChunk(isDense, numColumns, math.max(length, capacity))
    }
    start = chunk.length
  }

  private def close(): Unit =
    if (chunk.rows > 0) {
      chunk.close()
      closed += chunk
      stored += chunk.length
    }
}

private object MatrixBuilder {

  /** Vectors of which few are kept must not make a block that nothing ends. */
  private val MostRowsRead = 1 << 30

  /** Values of the first chunk, and of the largest: 1 MiB of doubles. */
  private val FirstCapacity = 1024
  private val MostCapacity = 131072
}
