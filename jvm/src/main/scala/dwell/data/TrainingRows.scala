package dwell.data

import scala.collection.mutable

import org.apache.spark.SparkContext

import dwell.data.block.{DataLimits, OccurringFeatures, PartitionSummary, ReadRows}
import dwell.data.columns.{ColumnDataset, ColumnFacts}
import dwell.data.groups.{BlockGroups, Placement}
import dwell.data.rows.{BlockArrays, BlockDataset, FeatureFacts, FeatureMoments, RowForm}
import dwell.problem.{LabelFacts, Labels, RowUse}
import dwell.spark.WorkerCount

/**
 * Training data, read and validated. It makes the datasets that solvers work on: one for each form and number of
 * partitions, however many threads ask. Releasing it releases them too.
 */
final class TrainingRows private[data] (read: ReadRows) {
  import TrainingRows._

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
  def bytesByRow: Long = nonzeros * bytesOfNonzero + numRows * BlockArrays.BytesOfRow

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
  // One for each number of workers and way of placing them.
  private val blockDatasets = mutable.Map.empty[(Int, TrainingRows.Place), BlockDataset]
  private val scaledRows = mutable.Map.empty[(Int, RowForm), ScaledRows]
  private var released = false

  // Made once for all datasets. The methods below hold the lock.
  private lazy val columnFacts = ColumnFacts.of(read)
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
    DataLimits.checkSharedRows(numRows)
    def varying = columnFacts.nonzeros
    val numPartitions =
      partitionsFor(numWorkers, WorkerCount.NonzerosWorthAWorker)(varying, varying * bytesOfNonzero)
    columnDatasets.get(numPartitions).filterNot(_.isReleased).getOrElse {
      val made = ColumnDataset.of(read, columnFacts, numPartitions)
      read.makeRoom()
      columnDatasets(numPartitions) = made
      made
    }
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
    val workers = partitionsFor(numWorkers, WorkerCount.worthAWorker(RowUse.Sums, numFeatures))(nonzeros, bytesByRow)
    val uneven = if (even) read.groups(workers, exactly = numWorkers > 0, alike = false).left.toOption else None
    placed(workers, if (uneven.isDefined) Even else Near) {
      uneven.fold(left(read.groups(workers))) { reason =>
        MovedBlocks.of(read, workers).dataset(Placement.moved(reason))
      }
    }
  }

  /**
   * The data for steps along rows, with the scale and the mean of the features. Rows stay where they were read for one worker, and if the form asks
   * for mixed rows also where they are mixed and groups of whole source partitions are even and alike in their labels. Otherwise
   * they are dealt to the workers.
   *
   * @param numWorkers
   *   number of workers, K; those beyond the number of rows stay empty. 0: [[dwell.spark.WorkerCount]] chooses it, and fewer if the rows
   *   can then stay
   * @throws IllegalArgumentException
   *   if the data does not fit this form; the message names the fix
   */
  def scaled(numWorkers: Int, form: RowForm): ScaledRows = synchronized {
    checkUse(numWorkers)
    DataLimits.checkSharedFeatures(numFeatures, read.names)
    if (form.labels == Labels.Signed) requireBinaryLabels()
    def varying = nonzeros - read.constant.iterator.map(read.moments.counts(_)).sum
    val workers = partitionsFor(numWorkers, WorkerCount.NonzerosWorthAWorker)(varying, bytesByRow)
    scaledRows.getOrElseUpdate(
      (workers, form), {
        val blocks = placed(workers, Alike(form.mixed)) {
          val objection = if (form.mixed) read.unmixed else if (workers > 1) Some(OfEveryKind) else None
          objection.toLeft(()).flatMap(_ => read.groups(workers, exactly = numWorkers > 0, alike = workers > 1)) match {
            case Right(groups) => left(groups)
            case Left(reason) => MovedBlocks.dealt(read, workers, form.mixed).dataset(Placement.dealt(reason))
          }
        }
        ScaledRows.of(blocks, featureMoments, featureMoments.scale(form.scaleFactor, read.names), form)
      })
  }

  /** The rows where they were read, each group with one executor. */
  private def left(groups: BlockGroups): BlockDataset =
    if (read.areTogether(groups)) BlockDataset.left(read, groups)
    else MovedBlocks.gathered(read, groups).dataset(Placement.gathered(groups))

  /** The blocks so placed, of so many workers. */
  private def placed(workers: Int, place: Place)(make: => BlockDataset): BlockDataset =
    blockDatasets.getOrElse(
      (workers, place), {
        val made = make
        // From here on it is released with the rows, also if the fit is cancelled while they make room.
        blockDatasets((workers, place)) = made
        if (made.isMoved) read.makeRoom()
        made
      })

  /** The mean of each feature, where they are few; null otherwise. */
  def centre: Array[Double] = if (numFeatures > Few) null
  else {
    val all = new Array[Double](numFeatures)
    // Values so large that the mean overflows are left where they are.
    read.moments.columns.indices.filter(i => math.abs(read.mean(i)) <= Double.MaxValue).foreach { i =>
      all(read.moments.columns(i)) = read.mean(i)
    }
    all
  }

  /** The features that have one nonzero value in all rows. */
  def constant: Array[Int] = read.constant.map(read.moments.columns(_))

  /** What a leader needs to know of labels of this kind. */
  def labelFacts(labels: Labels): LabelFacts = {
    val classes = labels match {
      case Labels.Signed =>
        requireBinaryLabels()
        Array(read.labels.otherWeight, read.labels.positiveWeight)
      case Labels.Classes(count) => classWeights(count)
      case Labels.Real => null
    }
    LabelFacts(labelMean, labelVariance, totalWeight, classes)
  }

  /** The sums of the weights of the rows of each class, 0 until `count`. */
  def classWeights(count: Int): Array[Double] = read.labels.classWeights(count)

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
      }
      columnDatasets.values.foreach(_.unpersist())
      if (!sc.isStopped) {
        scaledRows.values.foreach(_.destroy())
        blockDatasets.values.foreach(_.destroy())
      }
      scaledRows.clear()
      blockDatasets.clear()
      columnDatasets.clear()
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

  /** Coordinate descent on partitions whose features differ takes up to twice the rounds: bench/results/2026-11-28-blocks. */
  private val OfEveryKind = "steps along coordinates need partitions of rows of every kind"

  /** How blocks come to their workers. */
  private sealed trait Place

  /** In groups of whole source partitions, which an executor holds. */
  private case object Near extends Place

  /** In even groups, or moved. */
  private case object Even extends Place

  /** In even groups with rows that are alike, and mixed, or dealt. */
  private final case class Alike(mixed: Boolean) extends Place

  /** The most features for which sums over pairs of them are affordable. */
  private[dwell] val Few: Int = PartitionSummary.Few
}
