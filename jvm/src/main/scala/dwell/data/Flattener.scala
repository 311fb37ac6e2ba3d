package dwell.data

import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.jni.ResultHeader
import dwell.data.block.{BlockIndex, Cached, ColumnNames, DoubleBytes, LabeledRow, RowBlock}
import dwell.data.rows.LabelMoments

/**
 * Turns rows into what the solvers work on, in two steps: [[Flattener.read]] reads and validates the rows once, keeps
 * them as primitive arrays and brings labels and weights to the driver; [[TrainingRows.columns]] and
 * [[TrainingRows.rows]] move every nonzero to the partition that its column or its row belongs to, in one shuffle.
 */
object Flattener {

  /**
   * Reads and validates `rows`. They stay cached; the caller has to release them, and all that was made of them, with
   * [[TrainingRows.unpersist]].
   *
   * @param rows
   *   training data; read once, unless cached blocks are lost
   * @param numFeatures
   *   length that every feature vector must have
   * @param title
   *   what the cached data is called on Spark's storage page
   * @param names
   *   names of the DataFrame columns, for error messages
   * @throws IllegalArgumentException
   *   if the data cannot be trained on; the message names column and row and the fix
   */
  def read(rows: RDD[LabeledRow], numFeatures: Int, title: String, names: ColumnNames = ColumnNames()): TrainingRows = {
    checkFeatureCount(numFeatures, names)
    val blocks = rows
      .mapPartitionsWithIndex((index, it) => Iterator.single(RowBlock.read(index, numFeatures, it, names)))
      .setName(s"$title: rows as read")
      .persist(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(blocks, Seq.empty)(collect(blocks, numFeatures, title, names))
  }

  private def collect(blocks: RDD[RowBlock], numFeatures: Int, title: String, names: ColumnNames): TrainingRows = {
    val summaries = blocks.sparkContext.runJob(blocks, (it: Iterator[RowBlock]) => it.next().summary)
    summaries.find(_.problem != null).foreach(s => throw new IllegalArgumentException(s.problem))
    val numRows = checkRowCount(summaries.map(_.rowsRead).sum, summaries.map(_.rows.toLong).sum, names)

    val firstRows = summaries.scanLeft(0)(_ + _.rows).init
    val labels = new Array[Double](numRows)
    val weights = if (summaries.forall(_.weights == null)) null else Array.fill(numRows)(1.0)
    summaries.foreach { s =>
      DoubleBytes.unpack(s.labels, labels, firstRows(s.index))
      if (s.weights != null) DoubleBytes.unpack(s.weights, weights, firstRows(s.index))
    }
    val constant = summaries.iterator.filter(_.rows > 0).map(_.constant).reduce(_ intersect _)
    new TrainingRows(
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

  private[data] def checkFeatureCount(numFeatures: Int, names: ColumnNames): Unit = {
    if (numFeatures < 0 || numFeatures > RowBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a model holds 0 to " +
          s"${RowBlock.MaxArrayLength} coefficients in one array. Hash the features into fewer columns, for example " +
          "with FeatureHasher.")
    }
  }

  /** The number of rows of positive weight, if they can be trained on. */
  private[data] def checkRowCount(rowsRead: Long, rows: Long, names: ColumnNames): Int = {
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
    if (rows > RowBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"$rows rows of positive weight, but the array of their labels has room for ${RowBlock.MaxArrayLength}. " +
          "Train on a sample, for example with Dataset.sample.")
    }
    rows.toInt
  }

  /** The shared vector of a round has one number per row where columns are split. */
  private[data] def checkSharedRows(numRows: Int): Unit =
    if (numRows > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"$numRows rows of positive weight, but a vector of one number per row has room for ${ResultHeader.MAX_ENTRIES}. " +
          "Train with orientation=dual, or on a sample, for example with Dataset.sample.")
    }

  /** The shared vector of a round has one number per feature where rows are split. */
  private[data] def checkSharedFeatures(numFeatures: Int, names: ColumnNames): Unit =
    if (numFeatures > ResultHeader.MAX_ENTRIES) {
      throw new IllegalArgumentException(
        s"Column '${names.features}': vectors of length $numFeatures, but a vector of one number per feature has " +
          s"room for ${ResultHeader.MAX_ENTRIES}. Train with orientation=primal, or hash the features into fewer columns, for " +
          "example with FeatureHasher.")
    }

  /** Nonzeros of a partition must fit into one array. */
  private[data] def checkLoad(partition: Int, numPartitions: Int, nonzeros: Long): Unit =
    if (nonzeros > RowBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Partition $partition of $numPartitions would hold $nonzeros nonzeros, but an array holds " +
          s"${RowBlock.MaxArrayLength}. Raise numWorkers.")
    }
}
