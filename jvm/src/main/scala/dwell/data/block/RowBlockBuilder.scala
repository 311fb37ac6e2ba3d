package dwell.data.block

import org.apache.spark.ml.linalg.{DenseVector, SparseVector, Vector}

/** Validates rows and appends them to growing arrays, until the first problem. */
private[data] final class RowBlockBuilder(partition: Int, numFeatures: Int, names: ColumnNames, counts: Boolean) {
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

  /** Validates a row and appends it if its weight is positive. Sets `problem` if the row is bad. */
  def add(row: LabeledRow): Unit = {
    if (row.features == null) {
      fail(names.features, "the vector is null", "Drop the rows without features, for example with Dataset.na.drop")
    } else {
      checkLabelAndWeight(row)
      checkLength(row.features)
      if (problem == null) {
        // A row of weight 0 is validated and appended like any other, and then dropped.
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

  /** The block of the rows added; only with the problem if there is one. */
  def result(): RowBlock = {
    // No task uses a bad block, so it does not need the rows before the bad one.
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
    // The constructor of a vector checks its indices, but the user's code can change its arrays afterwards.
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

private[data] object RowBlockBuilder {

  /**
   * Reads one source partition.
   *
   * @param counts
   *   whether values are counts: they must be in the range of counts, and rows without any are left out
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
}
