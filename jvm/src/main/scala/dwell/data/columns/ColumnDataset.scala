package dwell.data.columns

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.base.{Shuffle, TaskFailure}
import dwell.data.block.{Cached, CachedDataset, ReadRows}
import dwell.data.matrix.{ColumnCounts, MatrixBlock}

/**
 * Training data as columns, without the constant ones, split into partitions with about equally many nonzeros.
 *
 * @param partitions
 *   one [[ColumnPartition]] in each Spark partition
 * @param columnsPerPartition
 *   number of columns of each partition
 * @param weightsBroadcast
 *   weight of each row, or null if every weight is 1
 */
final class ColumnDataset private (
    partitions: RDD[ColumnPartition],
    nonzerosPerPartition: Array[Long],
    val columnsPerPartition: Array[Int],
    val weightsBroadcast: Broadcast[Array[Double]],
    bytes: Long,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[ColumnPartition](partitions, nonzerosPerPartition, bytes, broadcasts)

private[data] object ColumnDataset {

  /** The number of nonzeros of each column; 0 for a constant one, which is left out and must not affect the balance. */
  def countColumns(rows: ReadRows): Array[Int] = TaskFailure.unwrapped {
    val numFeatures = rows.numFeatures
    // Tasks add the counts in groups, so that the driver does not get those of every block.
    val numGroups = math.ceil(math.sqrt(rows.numBlocks.toDouble)).toInt
    val byGroup = rows.verifiedBlocks.map(block => (block.index % numGroups, block.matrix.columnCounts(numFeatures)))
    val groups = Shuffle.byIndex(byGroup, numGroups)
    val counts = Shuffle
      .once(groups)(rows.sc.runJob(groups, (it: Iterator[(Int, ColumnCounts)]) => it.map(_._2).reduce(_ + _)))
      .reduce(_ + _)
      .toDense(numFeatures)
    rows.constant.indices.foreach(column => counts(column) = 0)
    counts
  }

  /**
   * Moves the nonzeros to the partitions of their columns, and caches the partitions.
   *
   * @throws IllegalArgumentException
   *   if a partition would be too large, or a variance overflows
   */
  def of(rows: ReadRows, counts: Array[Int], numPartitions: Int): ColumnDataset = {
    val sc = rows.sc
    val assignment = ColumnAssignment.balanced(counts, numPartitions)
    assignment.loads.indices.foreach(k => MatrixBlock.checkLoad(k, numPartitions, assignment.loads(k)))

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val weights = Cached.broadcast(sc, rows.weights)
    val firstRows = rows.index.firstRows
    val numRows = rows.numRows
    val totalWeight = rows.totalWeight
    val names = rows.names
    val pieces = rows.verifiedBlocks.flatMap { block =>
      Transposition.cut(block.matrix, firstRows(block.index), partitionOf.value, numPartitions)
    }
    val partitions = Shuffle
      .byIndex(pieces, numPartitions)
      .mapPartitionsWithIndex { (k, it) =>
        Iterator.single(
          Transposition.merge(k, it.map(_._2).toArray, numRows, Cached.valueOf(weights), totalWeight, names))
      }
      .setName(s"${rows.title}: columns")
      .persist(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf) ++ Option(weights)
    Cached.orRelease(partitions, broadcasts) {
      val sizes = sc.runJob(
        partitions,
        (it: Iterator[ColumnPartition]) => {
          val p = it.next()
          (p.nonzeros.toLong, p.numColumns, p.bytes)
        })
      new ColumnDataset(partitions, sizes.map(_._1), sizes.map(_._2), weights, sizes.map(_._3).sum, broadcasts)
    }
  }
}
