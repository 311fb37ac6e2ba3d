package dwell.data

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.base.{Answers, LittleEndian}
import dwell.bulk.Kept
import dwell.data.block.{Cached, ColumnNames, DataLimits, LabelMoments, ReadRows, RowBlock, RowBlockBuilder}
import dwell.data.matrix.BlockIndex

/**
 * Reads and validates training data, in one pass. The rows stay on the workers as primitive arrays. Labels and weights
 * come to the driver.
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
   * @throws IllegalArgumentException
   *   if the data is not fit for training; the message names the column, the row and the fix
   */
  def read(
      rows: RDD[InternalRow],
      numFeatures: Int,
      title: String,
      names: ColumnNames = ColumnNames()): TrainingRows = {
    DataLimits.checkFeatureCount(numFeatures, names)
    val read =
      rows.mapPartitionsWithIndex((index, it) => Iterator.single(RowBlockBuilder.read(index, numFeatures, it, names)))
    val blocks = Kept.of(read, s"$title: rows as read").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(blocks, Seq.empty)(new TrainingRows(collect(blocks, numFeatures, title, names)))
  }

  private def collect(blocks: Kept[RowBlock], numFeatures: Int, title: String, names: ColumnNames): ReadRows = {
    val summaries = Answers.of(blocks)(_.next().summary)
    summaries.find(_.problem != null).foreach(s => throw new IllegalArgumentException(s.problem))
    val numRows = DataLimits.checkRowCount(summaries.map(_.rowsRead).sum, summaries.map(_.rows.toLong).sum, names)

    val firstRows = summaries.scanLeft(0)(_ + _.rows).init
    val labels = new Array[Double](numRows)
    val weights = if (summaries.forall(_.weights == null)) null else Array.fill(numRows)(1.0)
    summaries.foreach { s =>
      LittleEndian.copy(s.labels, labels, firstRows(s.index))
      if (s.weights != null) LittleEndian.copy(s.weights, weights, firstRows(s.index))
    }
    val constant = summaries.iterator.filter(_.rows > 0).map(_.constant).reduce(_ intersect _)
    new ReadRows(
      blocks,
      new BlockIndex(firstRows, summaries.map(_.fingerprint)),
      numFeatures,
      labels,
      weights,
      new LabelMoments(labels, weights, names),
      summaries.map(_.nonzeros.toLong).sum,
      constant,
      title,
      names)
  }
}
