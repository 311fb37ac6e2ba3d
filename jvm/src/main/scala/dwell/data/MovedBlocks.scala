package dwell.data

import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{BlockGroups, ReadRows, RowBlock, SourceSize}
import dwell.data.cache.Cached
import dwell.data.merge.DealtBlocks
import dwell.data.rows.BlockDataset
import dwell.record.HeldBytes
import dwell.spark.Answers

/**
 * Rows of partitions that are too few, too unequal or not alike, moved to other partitions: whole blocks to partitions of about equal
 * work, or rows that are dealt. What follows one another in the source follows one another here, too, unless it is mixed.
 *
 * @param kept
 *   the blocks, kept and materialised
 * @param sizes
 *   size of each partition
 */
private[data] final class MovedBlocks private (kept: Kept[RowBlock], sizes: IndexedSeq[SourceSize], held: HeldBytes) {

  /** The blocks of each partition as the data of a worker, which owns them. */
  def dataset(placement: String): BlockDataset =
    new BlockDataset(kept, heldBy, BlockGroups.each(sizes), placement, held, () => release())

  /** See [[dwell.data.block.ReadRows.held]]. */
  private def heldBy(groups: BlockGroups): RDD[() => Iterator[RowBlock]] =
    kept.held(groups.sources).map(group => () => group().iterator.flatMap(_._2))

  private def release(): Unit = {
    if (!kept.sparkContext.isStopped) kept.cleanShuffleDependencies(blocking = false)
    Cached.release(kept, Seq.empty)
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

  private def kept(rows: ReadRows, moved: RDD[RowBlock], name: String): MovedBlocks = {
    val kept = Kept.of(moved, s"${rows.title}: $name").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(kept, Seq.empty) {
      val summaries = Answers.of(kept)(summary)
      new MovedBlocks(kept, summaries.map(_._1).toIndexedSeq, rows.heldWith(summaries.map(_._2).sum))
    }
  }

  private def summary(blocks: Iterator[RowBlock]): (SourceSize, Long) =
    blocks.foldLeft((SourceSize(0L, 0L), 0L)) { case ((size, bytes), block) =>
      val own = sizeOf(block)
      (SourceSize(size.rows + own.rows, size.nonzeros + own.nonzeros), bytes + block.bytes)
    }

  private def sizeOf(block: RowBlock): SourceSize = SourceSize(block.rows.toLong, block.matrix.nonzeros.toLong)
}
