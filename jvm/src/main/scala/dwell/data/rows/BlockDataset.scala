package dwell.data.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.block.{BlockGroups, GroupedBlocks, ReadRows, RowBlock}
import dwell.data.matrix.{DenseBlock, SparseBlock}
import dwell.record.HeldBytes

/**
 * Rows as they were read, in groups of whole source partitions: one for each worker. Nothing is copied or moved, so the groups
 * are as even as the source allows.
 */
final class BlockDataset private[data] (read: ReadRows, groups: BlockGroups) {
  private val grouped = new GroupedBlocks(read.verifiedBlocks, groups)

  /** The data of each worker. */
  val partitions: RDD[BlockData] = BlockDataset.of(grouped)

  /** See [[dwell.fit.FitRunner]]. */
  def forBarrier: RDD[BlockData] = BlockDataset.of(read.held(groups))

  /** The number of workers, K. */
  def numPartitions: Int = groups.count

  /** The nonzeros of each worker. */
  def nonzerosPerPartition: Array[Long] = groups.nonzeros

  /** How the rows came to the workers. */
  def placement: String =
    s"where they were read: ${groups.sources.map(_.length).sum} source partitions in ${groups.count} groups"

  /** The bytes that are held. */
  def held: HeldBytes = read.heldAsRead

  private[data] def broadcasts: Seq[Broadcast[_]] = grouped.broadcasts
}

private object BlockDataset {
  private def of(groups: RDD[() => Iterator[RowBlock]]): RDD[BlockData] =
    groups.mapPartitionsWithIndex { (k, group) =>
      group.map(blocks => BlockData(k, () => blocks().filter(_.rows > 0).map(arrays)))
    }

  private def arrays(block: RowBlock): BlockArrays = {
    val (offsets, features) = block.matrix match {
      case sparse: SparseBlock => (sparse.offsets, sparse.indices)
      case _: DenseBlock => (null, null)
    }
    val values = block.matrix.values
    BlockArrays(offsets, features, values.values32, values.values64, block.labels, block.weights)
  }
}
