package dwell.data

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.RowOrder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.block.{BadRow, ColumnNames, DataLimits, ReadFacts, ReadRows, RowBlock, RowBlockBuilder}
import dwell.data.cache.Cached
import dwell.data.folds.{FoldedBlocks, Folds}

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
    val blocks = kept(blocksOf(RowOrder.fixed(rows)), title)
    Cached.orRelease(blocks, Seq.empty) {
      val facts = ReadFacts.of(blocks, numFeatures, classified)
      val summaries = facts.summaries
      BadRow.raise(rows, summaries.map(_.problem))(blocksOf)
      DataLimits.checkAnyRow(summaries.map(_.rowsRead).sum, summaries.map(_.labels.rows).sum, names)
      val read = new ReadRows(blocks, facts, numFeatures, title, names)
      new TrainingRows(if (narrow) read.narrowed else read)
    }
  }

  /**
   * The same for the fits of a search, which train on some of the folds each.
   *
   * @param sets
   *   the folds that each training set has
   * @return
   *   None if a row is not fit for training or belongs to no fold, if a training set or what it leaves out has no rows, or if a task has
   *   no memory for the moments of all folds
   */
  def folded(
      rows: RDD[InternalRow],
      numFeatures: Int,
      title: String,
      names: ColumnNames,
      narrow: Boolean,
      classified: Boolean,
      folds: Folds,
      sets: Seq[Set[Int]]): Option[FoldedRows] = if (numFeatures.toLong * folds.count > MostMoments) None
  else {
    DataLimits.checkFeatureCount(numFeatures, names)
    // Random folds go by the order in which the rows come, as Spark's do. Rows that come in another one later are found out.
    val inOrder = if (folds.areByPosition) rows else RowOrder.fixed(rows)
    val blocks = kept(
      inOrder.mapPartitionsWithIndex { (partition, rows) =>
        new FoldedBlocks(partition, numFeatures, rows, names, folds)
      },
      title)
    val all = (0 until folds.count).toSet
    Cached.orRelease(blocks, Seq.empty) {
      val alone = all.toSeq.map(Set(_))
      val wanted = (all +: (sets ++ sets.map(all -- _) ++ alone)).distinct
      val facts = wanted.zip(ReadFacts.byFold(blocks, numFeatures, classified, folds.count, wanted)).toMap
      def hasRows(set: Set[Int]) = facts(set).summaries.exists(_.labels.rows > 0L)
      val isWhole =
        sets.forall(set => hasRows(set) && hasRows(all -- set)) && facts(all).summaries.forall(_.problem == null)
      if (isWhole) {
        val read = new ReadRows(blocks, facts(all), numFeatures, title, names)
        Some(new FoldedRows(if (narrow) read.narrowed else read, sets.map(set => set -> facts(set)), alone.map(facts)))
      } else {
        Cached.release(blocks, Seq.empty)
        None
      }
    }
  }

  /** Features times folds. A task holds a few numbers for each. */
  private val MostMoments = 1 << 24

  private def kept(blocks: RDD[RowBlock], title: String): Kept[RowBlock] =
    Kept.of(blocks, s"$title: rows as read").keep(StorageLevel.MEMORY_AND_DISK)
}
