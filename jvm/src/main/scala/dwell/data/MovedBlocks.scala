package dwell.data

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{ReadRows, RowBlock}
import dwell.data.cache.Cached
import dwell.data.groups.{BlockGroups, GroupedBlocks, SourceSize}
import dwell.data.merge.DealtBlocks
import dwell.data.rows.BlockDataset
import dwell.record.HeldBytes
import dwell.spark.Answers

/**
 * Rows of partitions that are too few, too unequal, not alike or not together, moved to other partitions: whole blocks to partitions of about equal
 * work or to the executor of their group, or rows that are dealt. What follows one another in the source follows one another here, too, unless it is mixed.
 *
 * @param kept
 *   the blocks, kept and materialised
 * @param sizes
 *   size of each partition
 * @param weights
 *   sum of the weights of each partition
 * @param broadcasts
 *   what tasks need to compute the blocks
 */
private[data] final class MovedBlocks private (
    kept: Kept[RowBlock],
    sizes: IndexedSeq[SourceSize],
    weights: Array[Double],
    held: HeldBytes,
    broadcasts: Seq[Broadcast[_]]) {

  /** The blocks of each partition as the data of a worker, which owns them. */
  def dataset(placement: String): BlockDataset =
    new BlockDataset(kept, heldBy, BlockGroups.each(sizes), weights, placement, held, () => release(), isMoved = true)

  /** See [[dwell.data.block.ReadRows.held]]. */
  private def heldBy(groups: BlockGroups): RDD[() => Iterator[RowBlock]] =
    kept.held(groups.sources).map(group => () => group().flatMap(_._2))

  private def release(): Unit = {
    if (!kept.sparkContext.isStopped) kept.cleanShuffleDependencies(blocking = false)
    Cached.release(kept, broadcasts)
  }
}

private[data] object MovedBlocks {

  /**
   * Whole blocks.
   *
   * @param partitions
   *   the number of partitions, K; those beyond the number of blocks stay empty
   */
  def of(rows: ReadRows, partitions: Int): MovedBlocks = {
    val loads = rows.sizes.map(_.load)
    val (before, all) = (loads.scanLeft(0L)(_ + _).toArray, loads.sum)
    val sent = rows.verifiedBlocks.mapPartitionsWithIndex { (source, blocks) =>
      var next = before(source)
      blocks.filter(_.rows > 0).map { block =>
        val load = sizeOf(block).load
        val middle = next + 0.5 * load
        next += load
        (math.min(partitions - 1, (middle / all * partitions).toInt), block)
      }
    }
    val moved = BulkShuffle.byIndex(sent, partitions, RowBlock).mapPartitions(DealtBlocks.inOrder(_).iterator)
    kept(rows, moved, "rows moved")
  }

  /**
   * Rows that are dealt to partitions, which differ by one row at most: see [[dwell.data.merge.DealtBlocks]].
   *
   * @param partitions
   *   the number of partitions, K; those beyond the number of rows stay empty
   */
  def dealt(rows: ReadRows, partitions: Int, mixed: Boolean): MovedBlocks =
    kept(rows, DealtBlocks.of(rows.verifiedBlocks, rows.index, partitions, mixed, RowBlock), "rows dealt")

  /** The blocks of groups of source partitions of which several executors hold parts: each group with one executor. */
  def gathered(rows: ReadRows, groups: BlockGroups): MovedBlocks = {
    val grouped = new GroupedBlocks(rows.verifiedBlocks, groups)
    kept(rows, grouped.flatMap(_()), "rows gathered", grouped.broadcasts)
  }

  private def kept(
      rows: ReadRows,
      moved: RDD[RowBlock],
      name: String,
      broadcasts: Seq[Broadcast[_]] = Seq.empty): MovedBlocks = {
    val kept = Kept.of(moved, s"${rows.title}: $name").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(kept, broadcasts) {
      val summaries = Answers.of(kept)(summary)
      val held = rows.heldWith(summaries.map(_.bytes).sum)
      new MovedBlocks(kept, summaries.map(_.size).toIndexedSeq, summaries.map(_.weight), held, broadcasts)
    }
  }

  /** A partition's report to the driver. */
  private final case class SourceSummary(size: SourceSize, weight: Double, bytes: Long)

  private def summary(blocks: Iterator[RowBlock]): SourceSummary =
    blocks.foldLeft(SourceSummary(SourceSize(0L, 0L), 0.0, 0L)) { (sum, block) =>
      val own = sizeOf(block)
      SourceSummary(
        SourceSize(sum.size.rows + own.rows, sum.size.nonzeros + own.nonzeros),
        sum.weight + (if (block.weights == null) block.rows.toDouble else block.weights.sum),
        sum.bytes + block.bytes)
    }

  private def sizeOf(block: RowBlock): SourceSize = SourceSize(block.rows.toLong, block.matrix.nonzeros.toLong)
}
