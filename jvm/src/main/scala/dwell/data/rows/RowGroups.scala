package dwell.data.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.block.{BlockGroups, GroupedBlocks, ReadRows}
import dwell.data.cache.Cached
import dwell.data.matrix.ExcludedFeatures

/**
 * Partitions that are groups of whole source partitions. The rows stay where Spark has them.
 *
 * @param excluded
 *   features whose nonzeros are left out
 */
private[data] final class RowGroups(rows: ReadRows, excluded: Array[Int], groups: BlockGroups) extends RowPlacement {

  private val grouped = new GroupedBlocks(rows.verifiedBlocks, groups)

  override def numPartitions: Int = groups.count

  override def isShuffle: Boolean = false

  override def broadcasts: Seq[Broadcast[_]] = grouped.broadcasts

  override def partitions(
      merge: RowMerge,
      scale: Broadcast[Array[Double]],
      mean: Broadcast[Array[Double]]): RDD[RowPartition] = {
    val (left, numFeatures, numPartitions) = (excluded, rows.numFeatures, this.numPartitions)
    val index = rows.index
    grouped.mapPartitionsWithIndex { (k, group) =>
      val excluded = new ExcludedFeatures(left, numFeatures)
      group.map { blocks =>
        merge.ofBlocks(k, numPartitions, blocks, index.firstRow, excluded, Cached.valueOf(scale), Cached.valueOf(mean))
      }
    }
  }
}
