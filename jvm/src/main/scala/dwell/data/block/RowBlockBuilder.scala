package dwell.data.block

import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.matrix.{MatrixBlock, MatrixBuilder}

/** Validates rows and appends them to growing arrays, until the first problem. */
private final class RowBlockBuilder(partition: Int, numFeatures: Int, names: ColumnNames) {
  private val matrix = new MatrixBuilder(partition, numFeatures, names.features)
  private var rows = 0
  private var weighted = false
  private var labels = new Array[Double](64)
  private var weights = new Array[Double](64)

  def problem: String = matrix.problem

  /** Validates a row and keeps it if its weight is positive. Sets `problem` if the row is bad. */
  def add(row: InternalRow): Unit = {
    val label = row.getDouble(TrainingRow.Label)
    val weight = row.getDouble(TrainingRow.Weight)
    if (!row.isNullAt(TrainingRow.Features)) check(label, weight)
    // A row of weight 0 is validated like any other, and then dropped.
    matrix.add(row, TrainingRow.Features)(weight > 0.0)
    if (problem == null && weight > 0.0) keep(label, weight)
  }

  /** The block of the rows added; only with the problem if there is one. */
  def result(): RowBlock = {
    if (problem != null) rows = 0
    new RowBlock(
      matrix.result(),
      java.util.Arrays.copyOf(labels, rows),
      if (weighted) java.util.Arrays.copyOf(weights, rows) else null)
  }

  private def keep(label: Double, weight: Double): Unit = {
    if (rows == labels.length) {
      val length = MatrixBlock.grown(rows + 1)
      labels = java.util.Arrays.copyOf(labels, length)
      weights = java.util.Arrays.copyOf(weights, length)
    }
    labels(rows) = label
    weights(rows) = weight
    if (weight != 1.0) weighted = true
    rows += 1
  }

  private def check(label: Double, weight: Double): Unit = {
    if (label.isNaN || label.isInfinite) {
      matrix.fail(names.label, s"label $label", "Labels must be finite: drop or repair such rows")
    } else if (weight.isNaN || weight.isInfinite || weight < 0.0) {
      matrix.fail(names.weight, s"weight $weight", "Weights must be finite and not negative; 0 leaves a row out")
    }
  }
}

private[data] object RowBlockBuilder {

  /** Reads the source partition `index`, up to its first bad row. The columns are those of [[TrainingRow]]. */
  def read(index: Int, numFeatures: Int, rows: Iterator[InternalRow], names: ColumnNames): RowBlock = {
    val builder = new RowBlockBuilder(index, numFeatures, names)
    while (rows.hasNext && builder.problem == null) builder.add(rows.next())
    builder.result()
  }
}
