package dwell.data.rows

import org.apache.spark.ExecutorMemory
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.block.{BlockGroups, GroupedBlocks, ReadRows, RowBlock}
import dwell.data.matrix.{DenseBlock, SparseBlock}
import dwell.record.HeldBytes

/**
 * Rows as they were read, in groups of whole partitions of blocks: one for each worker.
 *
 * @param blocks
 *   the blocks of each partition, kept
 * @param kept
 *   the blocks of each group, without their lineage: see [[dwell.bulk.Kept.held]]
 * @param placement
 *   how the rows came to the workers
 * @param held
 *   the bytes that are held
 * @param release
 *   releases what was made for this dataset alone
 */
final class BlockDataset private[data] (
    blocks: RDD[RowBlock],
    kept: BlockGroups => RDD[() => Iterator[RowBlock]],
    groups: BlockGroups,
    val placement: String,
    val held: HeldBytes,
    release: () => Unit) {
  private var broadcasts = Seq.empty[Broadcast[_]]

  /** The data of each worker. A gang does not need them, so nothing is sent before they are asked for. */
  lazy val partitions: RDD[BlockData] = {
    val grouped = new GroupedBlocks(blocks, groups)
    broadcasts = grouped.broadcasts
    BlockDataset.of(grouped, areHeld)
  }

  /** See [[dwell.fit.FitRunner]]. */
  def forBarrier: RDD[BlockData] = BlockDataset.of(kept(groups), areHeld)

  /**
   * Whether tasks hold their blocks from the first pass on: then they fetch those of another executor once, and not in each pass, where
   * this takes longer than the pass. Of blocks that Spark keeps in the memory of the same executor a task holds references.
   */
  private def areHeld: Boolean =
    BlockDataset.areHeld(held.data, nonzerosPerPartition, ExecutorMemory.ofSlot(blocks.sparkContext))

  /** The number of workers, K. */
  def numPartitions: Int = groups.count

  /** The nonzeros of each worker. */
  def nonzerosPerPartition: Array[Long] = groups.nonzeros

  /** The context must be alive. */
  private[data] def destroy(): Unit = {
    broadcasts.foreach(_.destroy())
    release()
  }
}

private[data] object BlockDataset {

  /** Rows where they were read. The groups are as even as the source allows. */
  def left(read: ReadRows, groups: BlockGroups): BlockDataset = {
    val sources = groups.sources.map(_.length).sum
    val placement = s"where they were read: $sources source partitions in ${groups.count} groups"
    new BlockDataset(read.verifiedBlocks, read.held, groups, placement, read.heldAsRead, () => ())
  }

  /**
   * Whether the blocks of every task have room beside what Spark keeps.
   *
   * @param bytes
   *   of all blocks
   * @param slot
   *   the memory of a slot, see [[org.apache.spark.ExecutorMemory.ofSlot]]
   */
  private[data] def areHeld(bytes: Long, nonzeros: Array[Long], slot: Option[Long]): Boolean = {
    val largest = bytes * (nonzeros.max.toDouble / math.max(1L, nonzeros.sum))
    bytes <= SmallBytes || slot.exists(largest <= HeldShare * _)
  }

  /** Data of so few bytes have room beside anything. */
  private val SmallBytes = 1L << 25

  /** The share of a slot's memory that the blocks of a task may take beside what Spark keeps: its own share leaves more than half of it. */
  private val HeldShare = 0.25

  /** @param held whether tasks hold their blocks from the first pass on */
  private def of(groups: RDD[() => Iterator[RowBlock]], held: Boolean): RDD[BlockData] =
    groups.mapPartitionsWithIndex { (k, group) =>
      group.map { blocks =>
        def read = blocks().filter(_.rows > 0).map(arrays)
        lazy val all = read.toArray
        BlockData(k, () => if (held) all.iterator else read)
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
