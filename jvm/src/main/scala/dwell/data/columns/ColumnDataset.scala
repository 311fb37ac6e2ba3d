package dwell.data.columns

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.base.{LittleEndian, Shuffle, SliceBounds, TaskFailure}
import dwell.data.block.{Cached, CachedDataset, DataLimits, ReadRows}
import dwell.data.matrix.{IndexedSums, MatrixBlock}

/**
 * Training data as columns, without the constant ones, split into partitions with about equally many nonzeros.
 *
 * @param partitions
 *   one [[ColumnPartition]] in each Spark partition
 * @param slices
 *   the rows whose labels each partition holds
 * @param weighted
 *   whether any weight is not 1
 * @param columnsPerPartition
 *   number of columns of each partition
 */
final class ColumnDataset private (
    partitions: RDD[ColumnPartition],
    nonzerosPerPartition: Array[Long],
    slices: SliceBounds,
    weighted: Boolean,
    val columnsPerPartition: Array[Int],
    bytes: Long,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[ColumnPartition](partitions, nonzerosPerPartition, bytes, broadcasts) {

  /** The label of each row. A job brings them to the driver. */
  def labels(): Array[Double] = ofSlices(partition => partition.labels)

  /** The weight of each row, or null if every weight is 1. A job brings them to the driver. */
  def weights(): Array[Double] =
    if (!weighted) null
    else {
      val slices = this.slices
      ofSlices { p =>
        java.util.Arrays.copyOfRange(p.weights, slices.start(p.index), slices.start(p.index + 1))
      }
    }

  /** One number for each row, which `get` gives for the rows of a partition's slice. */
  private def ofSlices(get: ColumnPartition => Array[Double]): Array[Double] = TaskFailure.unwrapped {
    val values = new Array[Double](slices.length)
    partitions.sparkContext.runJob(
      partitions,
      (it: Iterator[ColumnPartition]) => LittleEndian.bytes(get(it.next())),
      (k: Int, slice: Array[Byte]) => LittleEndian.copy(slice, values, slices.start(k)))
    values
  }
}

private[data] object ColumnDataset {

  /** The number of nonzeros of each column; 0 for a constant one, which is left out and must not affect the balance. */
  def countColumns(rows: ReadRows): Array[Int] = {
    val numFeatures = rows.numFeatures
    val blocks = rows.verifiedBlocks.map { block =>
      val counts = block.matrix.columnCounts(numFeatures)
      new IndexedSums(block.index, counts.columns, counts.counts.map(_.toDouble))
    }
    val counts = IndexedSums.total(blocks, numFeatures).map(_.toInt)
    rows.constant.foreach(column => counts(column) = 0)
    counts
  }

  /**
   * Moves the nonzeros to the partitions of their columns, and caches the partitions.
   *
   * @throws IllegalArgumentException
   *   if there are too many rows, a partition would be too large, or a variance overflows
   */
  def of(rows: ReadRows, counts: Array[Int], numPartitions: Int): ColumnDataset = {
    val sc = rows.sc
    val slices = SliceBounds(DataLimits.checkSharedRows(rows.numRows), numPartitions)
    val assignment = ColumnAssignment.balanced(counts, numPartitions)
    assignment.loads.indices.foreach(k => MatrixBlock.checkLoad(k, numPartitions, assignment.loads(k)))

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val firstRows = rows.index.firstRows
    val totalWeight = rows.totalWeight
    val names = rows.names
    val pieces = rows.verifiedBlocks.flatMap { block =>
      Transposition.cut(block, firstRows(block.index).toInt, partitionOf.value, slices)
    }
    val partitions = Shuffle
      .byIndex(pieces, numPartitions)
      .mapPartitionsWithIndex { (k, it) =>
        Iterator.single(Transposition.merge(k, it.map(_._2).toArray, slices, totalWeight, names))
      }
      .setName(s"${rows.title}: columns")
      .persist(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf)
    Cached.orRelease(partitions, broadcasts) {
      val sizes = sc.runJob(
        partitions,
        (it: Iterator[ColumnPartition]) => {
          val p = it.next()
          (p.nonzeros.toLong, p.numColumns, p.bytes)
        })
      new ColumnDataset(
        partitions,
        sizes.map(_._1),
        slices,
        rows.labels.weighted,
        sizes.map(_._2),
        sizes.map(_._3).sum,
        broadcasts)
    }
  }
}
