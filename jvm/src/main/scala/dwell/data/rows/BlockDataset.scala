package dwell.data.rows

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.block.{ReadRows, RowBlock}
import dwell.data.groups.{BlockGroups, GroupedBlocks, Placement}
import dwell.data.matrix.{DenseBlock, SparseBlock}
import dwell.record.HeldBytes

/**
 * Rows as they were read, in groups of whole partitions of blocks: one for each worker.
 *
 * @param blocks
 *   the blocks of each partition, kept
 * @param kept
 *   the blocks of each group, without their lineage: see [[dwell.bulk.Kept.held]]
 * @param weightPerPartition
 *   sum of the weights of the rows of each worker
 * @param placement
 *   how the rows came to the workers
 * @param held
 *   the bytes that are held
 * @param release
 *   releases what was made for this dataset alone
 * @param isMoved
 *   whether the blocks are copies of those that were read
 */
final class BlockDataset private[data] (
    blocks: RDD[RowBlock],
    kept: BlockGroups => RDD[() => Iterator[RowBlock]],
    groups: BlockGroups,
    val weightPerPartition: Array[Double],
    val placement: String,
    val held: HeldBytes,
    release: () => Unit,
    val isMoved: Boolean) {
  private var broadcasts = Seq.empty[Broadcast[_]]

  /** The data of each worker. A gang does not need them, so nothing is sent before they are asked for. */
  lazy val partitions: RDD[BlockData] = {
    val grouped = new GroupedBlocks(blocks, groups)
    broadcasts = grouped.broadcasts
    BlockDataset.of(grouped)
  }

  /** See [[dwell.fit.FitRunner]]. */
  def forBarrier: RDD[BlockData] = BlockDataset.of(kept(groups))

  /** The number of workers, K. */
  def numPartitions: Int = groups.count

  /** The number of rows of each worker. */
  def rowsPerPartition: Array[Long] = groups.rows

  /** The context that holds the data. */
  def sc: SparkContext = blocks.sparkContext

  /** The nonzeros of each worker. */
  def nonzerosPerPartition: Array[Long] = groups.nonzeros

  /** The context must be alive. */
  private[data] def destroy(): Unit = {
    broadcasts.foreach(_.destroy())
    release()
  }
}

private[data] object BlockDataset {

  /** Rows where they were read. */
  def left(read: ReadRows, groups: BlockGroups): BlockDataset =
    new BlockDataset(
      read.verifiedBlocks,
      read.held,
      groups,
      read.weights(groups),
      Placement.left(groups),
      read.heldAsRead,
      () => (),
      isMoved = false)

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
