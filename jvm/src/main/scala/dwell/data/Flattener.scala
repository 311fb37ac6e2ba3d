package dwell.data

import org.apache.spark.{Partitioner, SparkContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.serializer.JavaSerializer
import org.apache.spark.storage.StorageLevel

import dwell.solver.{ResultLayout, WorkerCount}

/**
 * Turns rows into columns, split into partitions of equal nonzeros.
 *
 * Rows are read and validated once and kept as primitive arrays; one job brings labels and weights to the driver,
 * one counts the nonzeros of each column, and one shuffle moves every nonzero to the partition its column belongs to.
 */
object Flattener {

  /**
   * Flattens `rows` into `numPartitions` partitions of columns. The result is cached and ready to use; the caller has
   * to release it with [[FlatDataset.unpersist]].
   *
   * @param rows
   *   training data; read once, unless cached blocks are lost
   * @param numFeatures
   *   length that every feature vector must have
   * @param numPartitions
   *   number of partitions of columns, K; those beyond the number of columns stay empty. 0: chosen by the nonzeros and
   *   by the tasks that the cluster runs at once
   * @param title
   *   what the cached data is called on Spark's storage page
   * @param names
   *   names of the DataFrame columns, for error messages
   * @throws IllegalArgumentException
   *   if the data cannot be trained on; the message names column and row and the fix
   * @throws InputChangedException
   *   if a lost block was read again and held other rows
   */
  def flatten(
      rows: RDD[LabeledRow],
      numFeatures: Int,
      numPartitions: Int,
      title: String,
      names: ColumnNames = ColumnNames()): FlatDataset = {
    require(numPartitions >= 0, s"The number of partitions must not be negative, but was $numPartitions")
    checkFeatureCount(numFeatures, names)
    val sc = rows.sparkContext
    val blocks = rows
      .mapPartitionsWithIndex((index, it) => Iterator.single(RowBlock.read(index, numFeatures, it, names)))
      .setName(s"$title: rows")
      .persist(StorageLevel.MEMORY_AND_DISK)
    try {
      val collected = collectRows(sc, blocks, names)
      TaskFailure.unwrapped(transpose(sc, blocks, collected, numFeatures, numPartitions, title, names))
    } finally {
      Cached.release(blocks, Seq.empty)
    }
  }

  /** What the driver keeps of the rows. */
  private final class Rows(
      val firstRows: Array[Int],
      val fingerprints: Array[Long],
      val constant: ConstantColumns,
      val labels: Array[Double],
      val weights: Array[Double])

  private def collectRows(sc: SparkContext, blocks: RDD[RowBlock], names: ColumnNames): Rows = {
    val summaries = sc.runJob(blocks, (it: Iterator[RowBlock]) => it.next().summary)
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
    new Rows(firstRows, summaries.map(_.fingerprint), constant, labels, weights)
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
    if (rows > ResultLayout.MaxRows) {
      throw new IllegalArgumentException(
        s"$rows rows of positive weight, but a vector of one number per row has room for ${ResultLayout.MaxRows}. " +
          "Train on a sample, for example with Dataset.sample.")
    }
    rows.toInt
  }

  /** Nonzeros of each partition must fit into one array. */
  private[data] def checkLoads(loads: Array[Long]): Unit = {
    val heaviest = loads.indices.maxBy(loads(_))
    if (loads(heaviest) > RowBlock.MaxArrayLength) {
      throw new IllegalArgumentException(
        s"Partition $heaviest of ${loads.length} would hold ${loads(heaviest)} nonzeros, but an array holds " +
          s"${RowBlock.MaxArrayLength}. Raise numWorkers.")
    }
  }

  private def transpose(
      sc: SparkContext,
      blocks: RDD[RowBlock],
      rows: Rows,
      numFeatures: Int,
      requestedPartitions: Int,
      title: String,
      names: ColumnNames): FlatDataset = {
    val labelMoments = new LabelMoments(rows.labels, rows.weights, names)
    val numRows = rows.labels.length
    val fingerprints = rows.fingerprints
    val firstRows = rows.firstRows

    val counts = countColumns(blocks, numFeatures, fingerprints)
    // A constant column is not solved for: it must not weigh in the balance either.
    rows.constant.indices.foreach(column => counts(column) = 0)
    val numPartitions =
      if (requestedPartitions > 0) requestedPartitions
      else {
        val taskSlots = sc.defaultParallelism / sc.getConf.getInt("spark.task.cpus", 1)
        WorkerCount.choose(counts.iterator.map(_.toLong).sum, taskSlots)
      }
    val assignment = ColumnAssignment.balanced(counts, numPartitions)
    checkLoads(assignment.loads)

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val weights: Broadcast[Array[Double]] = if (rows.weights == null) null else sc.broadcast(rows.weights)
    val totalWeight = labelMoments.totalWeight
    val pieces = blocks.mapPartitions { it =>
      val block = verified(it.next(), fingerprints)
      Transposition.cut(block, firstRows(block.index), partitionOf.value, numPartitions)
    }
    // Pieces are a handful of primitive arrays, which gain nothing from Kryo, and need no registration this way.
    val partitions = new ShuffledRDD[Int, ColumnPiece, ColumnPiece](pieces, new ByIndex(numPartitions))
      .setSerializer(new JavaSerializer(sc.getConf))
      .mapPartitionsWithIndex { (index, it) =>
        val rowWeights = if (weights == null) null else weights.value
        Iterator.single(Transposition.merge(index, it.map(_._2).toArray, numRows, rowWeights, totalWeight, names))
      }
      .setName(s"$title: columns")
      .persist(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf) ++ Option(weights)
    try {
      val sizes = sc.runJob(
        partitions,
        (it: Iterator[ColumnPartition]) => {
          val p = it.next()
          (p.nonzeros.toLong, p.numColumns, p.bytes)
        })
      new FlatDataset(
        partitions,
        numRows,
        numFeatures,
        rows.labels,
        rows.weights,
        weights,
        totalWeight,
        labelMoments.weightSquareSum,
        labelMoments.mean,
        labelMoments.variance,
        labelMoments.constant,
        sizes.map(_._1),
        sizes.map(_._2),
        sizes.map(_._3).sum,
        broadcasts)
    } catch {
      case e: Throwable =>
        Cached.release(partitions, broadcasts)
        throw e
    }
  }

  private def countColumns(blocks: RDD[RowBlock], numFeatures: Int, fingerprints: Array[Long]): Array[Int] =
    blocks
      .mapPartitions(it => Iterator.single(verified(it.next(), fingerprints).columnCounts(numFeatures)))
      .treeReduce(_ + _)
      .toDense(numFeatures)

  private def verified(block: RowBlock, fingerprints: Array[Long]): RowBlock =
    if (block.problem == null && block.fingerprint == fingerprints(block.index)) block
    else {
      throw new InputChangedException(
        s"Partition ${block.index} of the training data was read again, since its cached copy was lost, and held " +
          "other rows than before. The DataFrame is not deterministic: cache it with enough storage or checkpoint it, and " +
          "fit again.")
    }

  /** Keys are partition numbers. */
  private final class ByIndex(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key.asInstanceOf[Int]
  }

  /** Weighted moments of the labels; mean and variance in two passes, in row order. */
  private final class LabelMoments(labels: Array[Double], weights: Array[Double], names: ColumnNames) {
    val (totalWeight: Double, weightSquareSum: Double) =
      if (weights == null) (labels.length.toDouble, labels.length.toDouble)
      else {
        var sum = 0.0
        var squares = 0.0
        var j = 0
        while (j < weights.length) {
          sum += weights(j)
          squares += weights(j) * weights(j)
          j += 1
        }
        (sum, squares)
      }
    if (weightSquareSum.isInfinite || totalWeight.isInfinite || totalWeight * totalWeight == 0.0) {
      throw new IllegalArgumentException(
        s"Column '${names.weight}': the sum of the weights or of their squares leaves the range of a double. Only " +
          "the ratios of weights matter: scale them to about 1.")
    }

    val mean: Double = {
      var sum = 0.0
      var j = 0
      while (j < labels.length) {
        sum += (if (weights == null) labels(j) else weights(j) * labels(j))
        j += 1
      }
      sum / totalWeight
    }

    val variance: Double = {
      var sum = 0.0
      var j = 0
      while (j < labels.length) {
        val difference = labels(j) - mean
        sum += (if (weights == null) difference * difference else weights(j) * (difference * difference))
        j += 1
      }
      sum / totalWeight
    }
    if (variance.isNaN || variance.isInfinite) {
      throw new IllegalArgumentException(
        s"Column '${names.label}': the labels are so large that their variance is not a finite number. Scale them " +
          "down.")
    }

    val constant: Boolean = {
      var j = 1
      while (j < labels.length && labels(j) == labels(0)) j += 1
      j >= labels.length
    }
  }
}
