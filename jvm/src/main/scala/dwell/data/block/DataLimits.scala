package dwell.data.block

import dwell.data.matrix.MatrixBlock
import dwell.jni.ResultHeader

/** Sizes that arrays of the JVM set a limit to. A message says which Param or which call of Dataset avoids the limit. */
private[data] object DataLimits {

  def checkFeatureCount(numFeatures: Int, names: ColumnNames): Unit = {
    if (numFeatures < 0 || numFeatures > MatrixBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a model holds 0 to " +
          s"${MatrixBlock.MaxArrayLength} coefficients in one array. Hash the features into fewer columns, for example " +
          "with FeatureHasher.")
    }
  }

  /** The number of rows of positive weight, if they can be trained on. */
  def checkRowCount(rowsRead: Long, rows: Long, names: ColumnNames): Int = {
    if (rowsRead == 0) {
      throw new IllegalArgumentException(
        s"There are no rows to train on (columns '${names.features}' and '${names.label}'). Check the filters " +
          "and joins that the DataFrame came from.")
    }
    if (rows == 0) {
      throw new IllegalArgumentException(
        s"Column '${names.weight}': all weights are zero, so there is nothing to train on. Give at least one row a " +
          "positive weight.")
    }
    if (rows > MatrixBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"$rows rows of positive weight, but the array of their labels has room for ${MatrixBlock.MaxArrayLength}. " +
          "Train on a sample, for example with Dataset.sample.")
    }
    rows.toInt
  }

  /** The shared vector of a round has one number per row where columns are split. */
  def checkSharedRows(numRows: Int): Unit =
    if (numRows > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"$numRows rows of positive weight, but a vector of one number per row has room for ${ResultHeader.MAX_ENTRIES}. " +
          "Train with orientation=dual, or on a sample, for example with Dataset.sample.")
    }

  /** The shared vector of a round has one number per feature where rows are split. */
  def checkSharedFeatures(numFeatures: Int, names: ColumnNames): Unit =
    if (numFeatures > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a vector of one number per feature has " +
          s"room for ${ResultHeader.MAX_ENTRIES}. Train with orientation=primal, or hash the features into fewer columns, for " +
          "example with FeatureHasher.")
    }
}
