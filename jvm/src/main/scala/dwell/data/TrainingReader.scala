package dwell.data

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.RowOrder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.block.{BadRow, ColumnNames, DataLimits, ReadFacts, ReadRows, RowBlockBuilder}
import dwell.data.cache.Cached

/**
 * Reads and validates training data, in one pass. The rows stay on the workers as primitive arrays, with their labels
 * and weights. Each source partition reports its sums to the driver.
 */
object TrainingReader {

  /**
   * Reads and validates `rows`, and caches them. The caller must release them, and all datasets made from them, with
   * [[TrainingRows.unpersist]].
   *
   * @param rows
   *   training data in Spark's own format, with the columns of [[dwell.data.block.TrainingRow]]; read once, unless cached
   *   blocks are lost
   * @param numFeatures
   *   length that every feature vector must have
   * @param title
   *   name of the cached data on Spark's storage page
   * @param names
   *   names of the DataFrame columns, for error messages
   * @param narrow
   *   whether features that never occur may be left out, see [[dwell.data.block.OccurringFeatures]]
   * @param classified
   *   whether labels are classes, of which the weights are asked for
   * @throws IllegalArgumentException
   *   if the data is not fit for training; the message names the column, the row and the fix
   */
  def read(
      rows: RDD[InternalRow],
      numFeatures: Int,
      title: String,
      names: ColumnNames = ColumnNames(),
      narrow: Boolean = true,
      classified: Boolean = true): TrainingRows = {
    DataLimits.checkFeatureCount(numFeatures, names)
    def blocksOf(rows: RDD[InternalRow]) =
      rows.mapPartitionsWithIndex((partition, it) => RowBlockBuilder.read(partition, numFeatures, it, names))
    val blocks = Kept.of(blocksOf(RowOrder.fixed(rows)), s"$title: rows as read").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(blocks, Seq.empty) {
      val facts = ReadFacts.of(blocks, numFeatures, classified)
      val summaries = facts.summaries
      BadRow.raise(rows, summaries.map(_.problem))(blocksOf)
      DataLimits.checkAnyRow(summaries.map(_.rowsRead).sum, summaries.map(_.labels.rows).sum, names)
      val read = new ReadRows(blocks, facts, numFeatures, title, names)
      new TrainingRows(if (narrow) read.narrowed else read)
    }
  }
}
