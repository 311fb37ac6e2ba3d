package dwell.data

import scala.collection.mutable

import org.apache.spark.SparkContext

import dwell.data.block.{BlockGroups, DataLimits, OccurringFeatures, PartitionSummary, Placement, ReadRows}
import dwell.data.columns.ColumnDataset
import dwell.data.rows.{BlockDataset, ClassWeights, FeatureFacts, FeatureMoments, RowDataset, RowForm, RowGroups, RowPartition, RowShuffle}
import dwell.problem.{LabelFacts, Labels, RowUse}
import dwell.spark.WorkerCount

/**
 * Training data, read and validated. It makes the datasets that solvers work on: one for each form and number of
 * partitions, however many threads ask. Releasing it releases them too.
 */
final class TrainingRows private[data] (read: ReadRows) {

  /** The context that holds the data. */
  def sc: SparkContext = read.sc

  /** The number of features, n, including constant ones: of those that occur, where they are few. */
  def numFeatures: Int = read.numFeatures

  /** The features that have numbers here; None if all have. */
  def occurring: Option[OccurringFeatures] = read.occurring

  /** The length of the feature vectors in the source. */
  def vectorLength: Int = occurring.fold(numFeatures)(_.all)

  /** The number of nonzeros of all rows, including those of constant features. */
  def nonzeros: Long = read.nonzeros

  /** Half the square of the number of features, for each row that is stored with its zeros. */
  def densePairs: Double = read.densePairs

  /** Half the squares of the numbers of nonzeros of the other rows. */
  def sparsePairs: Double = read.sparsePairs

  /** The bytes that the data takes as rows, at most. */
  def bytesByRow: Long = nonzeros * bytesOfNonzero + numRows * RowPartition.BytesOfRow

  /** The number of rows of positive weight, m. */
  def numRows: Long = read.numRows

  /** The sum of the weights, S. */
  def totalWeight: Double = read.totalWeight

  /** The sum of the squared weights. */
  def weightSquareSum: Double = read.labels.weightSquareSum

  /**
   * The ratio of the sample variance, by which Spark standardises features, to the population variance, by Spark's definition for weighted
   * rows: S / (S - (sum of the squared weights) / S), with S the sum of the weights.
   */
  def sampleFactor: Double = totalWeight / (totalWeight - weightSquareSum / totalWeight)

  /** The weighted mean of the labels. */
  def labelMean: Double = read.labels.mean

  /** The weighted population variance of the labels. */
  def labelVariance: Double = read.labels.variance

  /** Whether all labels are equal. */
  def labelConstant: Boolean = read.labels.smallest == read.labels.largest

  /** The largest label. */
  def largestLabel: Double = read.labels.largest

  private val columnDatasets = mutable.Map.empty[Int, ColumnDataset]
  // One dataset for each number of partitions and form.
  private val rowDatasets = mutable.Map.empty[(Int, RowForm), RowDataset]
  private val blockDatasets = mutable.Map.empty[(Int, Boolean), BlockDataset]
  private val classWeights = mutable.Map.empty[Int, Array[Double]]
  private val rowShuffles = mutable.Map.empty[Int, RowShuffle]
  private var released = false

  // Counted once for all datasets. The methods below hold the lock.
  private lazy val columnCounts = ColumnDataset.countColumns(read)
  private lazy val featureMoments = FeatureMoments.of(read)

  /**
   * The data split by columns, without the constant ones.
   *
   * @param numWorkers
   *   number of partitions, K; those beyond the number of columns stay empty. 0: [[dwell.spark.WorkerCount]] chooses it
   * @throws IllegalArgumentException
   *   if the data does not fit this form; the message names the fix
   * @throws InputChangedException
   *   if a lost block was read again and held other rows
   */
  def columns(numWorkers: Int): ColumnDataset = synchronized {
    checkUse(numWorkers)
    DataLimits.checkSharedRows(numRows) // before a job counts the columns
    read.recall()
    def varying = columnCounts.nonzeros
    val numPartitions =
      partitionsFor(numWorkers, WorkerCount.NonzerosWorthAWorker)(varying, varying * bytesOfNonzero)
    columnDatasets.get(numPartitions).filterNot(_.isReleased).getOrElse {
      val made = ColumnDataset.of(read, columnCounts, numPartitions)
      read.makeRoom()
      columnDatasets(numPartitions) = made
      made
    }
  }

  /**
   * The data split by rows. Rows stay where they are for one worker, and where mixed rows are alike in groups of whole source
   * partitions, which then are the partitions. Otherwise a fixed hash of its number sends each row to a partition, and gives each partition its
   * share of any stretch of rows. Forms of the same rows share one shuffle.
   *
   * @param numWorkers
   *   number of partitions, K; those beyond the number of rows stay empty. 0: [[dwell.spark.WorkerCount]] chooses it, and
   *   fewer if the rows can then stay
   * @throws IllegalArgumentException
   *   if the data does not fit this form; the message names the fix
   * @throws InputChangedException
   *   if a lost block was read again and held other rows
   */
  def rows(numWorkers: Int, form: RowForm): RowDataset = synchronized {
    checkUse(numWorkers)
    DataLimits.checkSharedFeatures(numFeatures, read.names)
    if (form.labels == Labels.Signed) requireBinaryLabels()
    // A constant feature has a nonzero in every row.
    def varying = nonzeros - read.constant.length * numRows
    val workers = partitionsFor(numWorkers, WorkerCount.NonzerosWorthAWorker)(varying, bytesByRow)
    val groups =
      if (form.mixed || workers == 1) read.groups(workers, exactly = numWorkers > 0, alike = form.mixed)
      else Left("steps along coordinates need partitions of rows of every kind")
    val key = (groups.fold(_ => workers, _.count), form)
    rowDatasets.get(key).filterNot(_.isReleased).getOrElse {
      read.recall()
      val made = groups match {
        case Right(groups) => left(groups, form)
        case Left(reason) => dealt(workers, reason, form)
      }
      rowDatasets(key) = made
      made
    }
  }

  private def left(groups: BlockGroups, form: RowForm): RowDataset = {
    val placement = new RowGroups(read, featureMoments.excluded, groups)
    val made = RowDataset.of(read, placement, Placement.left, featureMoments, form)
    // Cleaning a shuffle stops at blocks that Spark keeps. And after coordinate descent another method may go on with them.
    val areShuffled = rowShuffles.nonEmpty || columnDatasets.nonEmpty || blockDatasets.exists(_._1._2)
    if (areShuffled || !form.mixed) read.makeRoom() else read.drop()
    made
  }

  private def dealt(workers: Int, reason: String, form: RowForm): RowDataset = {
    // Forms differ in the numbers computed from the rows, not in the split of the rows: one shuffle serves them all.
    val shuffle = rowShuffles.getOrElseUpdate(workers, RowShuffle.of(read, featureMoments.excluded, workers))
    val made = RowDataset.of(read, shuffle, Placement.dealt(reason), featureMoments, form)
    read.makeRoom()
    made
  }

  /**
   * The data as it was read, for sums over rows.
   *
   * @param numWorkers
   *   number of workers, K. 0: [[dwell.spark.WorkerCount]] chooses it
   * @param even
   *   whether workers must have about equally much work, so that many passes take no longer than they must. Then whole blocks move
   *   where the source's partitions are too few or too unequal. Otherwise rows stay where they are, in fewer groups than
   *   workers if not so many source partitions have rows
   */
  def blocks(numWorkers: Int, even: Boolean): BlockDataset = synchronized {
    checkUse(numWorkers)
    read.recall()
    val workers = partitionsFor(numWorkers, WorkerCount.worthAWorker(RowUse.Sums, numFeatures))(nonzeros, bytesByRow)
    val uneven = if (even) read.groups(workers, exactly = numWorkers > 0, alike = false).left.toOption else None
    val key = (workers, uneven.isDefined)
    blockDatasets.getOrElse(
      key, {
        val made = uneven.fold(BlockDataset.left(read, read.groups(workers))) { reason =>
          MovedBlocks.of(read, workers).dataset(Placement.moved(reason))
        }
        // From here on it is released with the rows, also if the fit is cancelled while they make room.
        blockDatasets(key) = made
        if (uneven.isDefined) read.makeRoom()
        made
      })
  }

  /** About the mean of each feature; only where they are few. */
  def centre: Array[Double] = read.centre

  /** The features that have one value in all rows. Zero counts only if a block is sparse. */
  def constant: Array[Int] = read.constant

  /**
   * What a leader needs to know of labels of this kind.
   *
   * @param counted
   *   whether a job counts the classes where there are several
   */
  def labelFacts(labels: Labels, counted: Boolean = true): LabelFacts = {
    val classes = labels match {
      case Labels.Signed =>
        requireBinaryLabels()
        Array(read.labels.otherWeight, read.labels.positiveWeight)
      case Labels.Classes(count) if counted =>
        synchronized(classWeights.getOrElseUpdate(count, ClassWeights.of(read.verifiedBlocks, count)))
      case Labels.Classes(_) | Labels.Real => null
    }
    LabelFacts(labelMean, labelVariance, totalWeight, classes)
  }

  /** The weights of so many classes, if [[labelFacts]] has counted them. */
  def countedClasses(count: Int): Option[Array[Double]] = synchronized(classWeights.get(count))

  /** The number of workers that the size of the data pays for, for this use of rows. */
  def workers(use: RowUse): Int =
    WorkerCount.choose(sc, nonzeros, bytesByRow, WorkerCount.worthAWorker(use, numFeatures))

  /** Statistics of the features, for a penalty with this factor of the scale: see [[dwell.data.rows.RowForm]]. */
  def features(scaleFactor: Double, intercept: Boolean): FeatureFacts = synchronized {
    DataLimits.checkSharedFeatures(numFeatures, read.names)
    FeatureFacts(
      featureMoments.scale(scaleFactor, read.names),
      if (intercept) featureMoments.mean else null,
      featureMoments.variance.map(math.sqrt))
  }

  /** Releases the cached rows and every dataset made from them. Later calls for a dataset throw. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      if (!sc.isStopped) {
        // Shuffle files are copies of all data, which Spark removes only when the driver collects garbage. Cleaning
        // stops at the cached blocks: it must not reach the user's own shuffles.
        columnDatasets.values.foreach(_.partitions.cleanShuffleDependencies())
        rowShuffles.values.foreach(_.clean())
      }
      columnDatasets.values.foreach(_.unpersist())
      rowDatasets.values.foreach(_.unpersist())
      if (!sc.isStopped) blockDatasets.values.foreach(_.destroy())
      blockDatasets.clear()
      columnDatasets.clear()
      rowDatasets.clear()
      rowShuffles.clear()
      read.unpersist()
    }
  }

  private def requireBinaryLabels(): Unit =
    read.labels.notBinary.foreach { case (row, label) =>
      throw new IllegalArgumentException(
        s"Column '${read.names.label}': label $label in row $row of positive weight, but a binary classifier takes " +
          "0 and 1. Index the labels, for example with StringIndexer.")
    }

  private def checkUse(numWorkers: Int): Unit = {
    require(numWorkers >= 0, s"The number of workers must not be negative, but was $numWorkers")
    if (released) throw new IllegalStateException(s"${read.title}: the training data has been released; read it again")
  }

  private def bytesOfNonzero: Long = 4L + read.bytesOfValue

  private def partitionsFor(numWorkers: Int, worthAWorker: Long)(varyingNonzeros: => Long, bytes: => Long): Int =
    if (numWorkers > 0) numWorkers else WorkerCount.choose(sc, varyingNonzeros, bytes, worthAWorker)
}

object TrainingRows {

  /** The most features for which sums over pairs of them are affordable. */
  private[dwell] val Few: Int = PartitionSummary.Few
}
