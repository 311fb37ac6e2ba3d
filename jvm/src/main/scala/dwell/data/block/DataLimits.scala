package dwell.data.block

import dwell.data.matrix.MatrixBlock
import dwell.jni.ResultHeader

/**
 * Checks of the sizes that JVM arrays limit. Each throws an `IllegalArgumentException` whose message names the Param or
 * the call of Dataset that avoids the limit.
 */
private[data] object DataLimits {

  /** By row: mean, variance, scale, the copies of two of them to send, and the coefficients. By column it is not less. */
  private val LeastBytesOfFeature = 40L

  /**
   * A model has one coefficient for each feature in one array, and the driver holds several numbers for each.
   *
   * @param heap
   *   the most bytes that the driver's heap can take
   */
  def checkFeatureCount(numFeatures: Int, names: ColumnNames, heap: Long = Runtime.getRuntime.maxMemory): Unit = {
    if (numFeatures < 0 || numFeatures > MatrixBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a model holds 0 to " +
          s"${MatrixBlock.MaxArrayLength} coefficients in one array. Hash the features into fewer columns, for example " +
          "with FeatureHasher.")
    }
    val bytes = LeastBytesOfFeature * numFeatures
    if (bytes > heap) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, for which the driver needs at least $bytes bytes " +
          s"($LeastBytesOfFeature a feature), more than its heap of $heap bytes. Raise spark.driver.memory, or hash the " +
          "features into fewer columns, for example with FeatureHasher.")
    }
  }

  /** There must be at least one row of positive weight. */
  def checkAnyRow(rowsRead: Long, rows: Long, names: ColumnNames): Unit = {
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
  }

  /** Returns the number of rows as an Int: if columns are split, the shared vector of a round has one number for each. */
  def checkSharedRows(numRows: Long): Int = {
    if (numRows > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"$numRows rows of positive weight, but a vector of one number per row has room for ${ResultHeader.MAX_ENTRIES}. " +
          "Train with orientation=dual, or on a sample, for example with Dataset.sample.")
    }
    numRows.toInt
  }

  /** If rows are split, the shared vector of a round has one number for each feature. */
  def checkSharedFeatures(numFeatures: Int, names: ColumnNames): Unit =
    if (numFeatures > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a vector of one number per feature has " +
          s"room for ${ResultHeader.MAX_ENTRIES}. Train with orientation=primal, or hash the features into fewer columns, for " +
          "example with FeatureHasher.")
    }
}
