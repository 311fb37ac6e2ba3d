package dwell.data.block

import scala.reflect.ClassTag

import org.apache.spark.{ExecutorMemory, SparkException}
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.cache.Cached
import dwell.data.matrix.{BlockIndex, ReadBlock}
import dwell.spark.TaskFailure

/**
 * The blocks that were read of each partition of the source. They are in memory until a dataset holds the rows as copies or in a form of its
 * own, and memory is short.
 *
 * @param read
 *   the blocks in memory
 * @param name
 *   name of the blocks on disk, for Spark's storage page
 */
private[data] final class ReadBlocks[B <: ReadBlock: ClassTag](read: Kept[B], index: BlockIndex, name: String)
    extends Logging {
  private val compared = {
    val index = this.index // so that tasks do not get this object
    Kept.of(read.mapPartitionsWithIndex((partition, blocks) => index.verified(partition, blocks)), name)
  }

  /** The blocks. A task fails with [[dwell.spark.InputChangedException]] if a block was read again and differs. */
  def verified: RDD[B] = compared

  /**
   * The blocks of each group of source partitions, which must be kept, without their lineage: see [[dwell.bulk.Kept.held]]. They
   * are verified, too.
   */
  def held(groups: Array[Array[Int]]): RDD[() => Iterator[B]] = {
    val index = this.index
    val kept = if (compared.isKept) compared else read
    kept.held(groups).map { group => () =>
      group().flatMap { case (partition, blocks) => index.verified(partition, blocks) }
    }
  }

  /**
   * Moves the blocks from memory to disk, once, if memory is short. Where it is not, they stay until Spark itself moves
   * them. Other datasets need them, and so does Spark if it loses what a dataset was made from. To read the source again
   * instead would take longer, and would end fits whose source does not always give the same rows. A part of the blocks of others
   * stays where they are. Where the move fails, for
   * example because the disk is full, they stay, since the fit has all that it needs.
   */
  def makeRoom(): Unit =
    if (!read.isPart && !compared.isKept && !ExecutorMemory.isPlentiful(compared.sparkContext)) {
      compared.keep(StorageLevel.DISK_ONLY)
      try {
        Cached.orRelease(compared, Seq.empty)(compared.sparkContext.runJob(compared, (it: Iterator[B]) => it.hasNext))
        read.drop()
      } catch {
        case e: SparkException if !TaskFailure.isCancellation(e) =>
          logWarning(s"the rows as read stay in memory, since they could not be moved to disk: ${e.getMessage}")
      }
    }

  /** Drops the blocks for good. */
  def release(): Unit = {
    Cached.release(read, Seq.empty)
    Cached.release(compared, Seq.empty)
  }
}
