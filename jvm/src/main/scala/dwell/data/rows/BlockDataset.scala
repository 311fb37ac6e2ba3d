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
  private var broadcasts = Seq.empty[Broadcast[_]]

  /** The data of each worker. A gang does not need them, so nothing is sent before they are asked for. */
  lazy val partitions: RDD[BlockData] = {
    val grouped = new GroupedBlocks(read.verifiedBlocks, groups)
    broadcasts = grouped.broadcasts
    BlockDataset.of(grouped, isSmall)
  }

  /** See [[dwell.fit.FitRunner]]. */
  def forBarrier: RDD[BlockData] = BlockDataset.of(read.held(groups), isSmall)

  private def isSmall: Boolean = held.data <= BlockDataset.SmallBytes

  /** The number of workers, K. */
  def numPartitions: Int = groups.count

  /** The nonzeros of each worker. */
  def nonzerosPerPartition: Array[Long] = groups.nonzeros

  /** How the rows came to the workers. */
  def placement: String =
    s"where they were read: ${groups.sources.map(_.length).sum} source partitions in ${groups.count} groups"

  /** The bytes that are held. */
  def held: HeldBytes = read.heldAsRead

  private[data] def destroy(): Unit = broadcasts.foreach(_.destroy())
}

private object BlockDataset {

  /** In a fit of so many bytes, to fetch a block of another executor anew in each pass takes longer than the pass. */
  private val SmallBytes = 1L << 25

  /** @param small whether tasks hold their blocks from the first pass on */
  private def of(groups: RDD[() => Iterator[RowBlock]], small: Boolean): RDD[BlockData] =
    groups.mapPartitionsWithIndex { (k, group) =>
      group.map { blocks =>
        def read = blocks().filter(_.rows > 0).map(arrays)
        lazy val held = read.toArray
        BlockData(k, () => if (small) held.iterator else read)
      }
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
