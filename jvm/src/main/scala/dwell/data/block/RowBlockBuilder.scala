package dwell.data.block

import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.matrix.{BlockPlace, MatrixBlock, MatrixBuilder, ReadBlock}

/** Validates rows of one fold and appends them to growing arrays, until the first problem or until the block is large enough. */
private[data] final class RowBlockBuilder(place: BlockPlace, numFeatures: Int, names: ColumnNames, fold: Int = 0) {
  private val matrix = new MatrixBuilder(place, numFeatures, names.features)
  private var rows = 0
  private var weighted = false
  private var labels = new Array[Double](64)
  private var weights = new Array[Double](64)

  def isFull: Boolean = matrix.isFull

  /** Whether no row has been added. */
  def isEmpty: Boolean = matrix.isEmpty

  /** For a row that belongs to no fold. */
  def refuse(fold: Int): Unit =
    matrix.fail("fold", s"fold $fold", "Folds are numbered from 0 to the number of folds less 1")

  /** Validates a row and keeps it if its weight is positive. Sets `problem` if the row is bad. */
  def add(row: InternalRow): Unit = {
    val label = row.getDouble(TrainingRow.Label)
    val weight = row.getDouble(TrainingRow.Weight)
    if (!row.isNullAt(TrainingRow.Features)) check(label, weight)
    // A row of weight 0 is validated like any other, and then dropped.
    matrix.add(row, TrainingRow.Features)(weight > 0.0)
    if (matrix.problem == null && weight > 0.0) keep(label, weight)
  }

  /** The block of the rows added; only with the problem if there is one. */
  def result(): RowBlock = {
    if (matrix.problem != null) rows = 0
    RowBlock.of(
      matrix.result(),
      java.util.Arrays.copyOf(labels, rows),
      if (weighted) java.util.Arrays.copyOf(weights, rows) else null,
      fold)
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

  /**
   * Reads a source partition, up to its first bad row, in blocks of bounded size, see [[ReadBlock.all]]. The columns are
   * those of [[TrainingRow]].
   */
  def read(partition: Int, numFeatures: Int, rows: Iterator[InternalRow], names: ColumnNames): Iterator[RowBlock] =
    ReadBlock.all(partition, rows) { place =>
      val builder = new RowBlockBuilder(place, numFeatures, names)
      while (rows.hasNext && !builder.isFull) builder.add(rows.next())
      builder.result()
    }
}
