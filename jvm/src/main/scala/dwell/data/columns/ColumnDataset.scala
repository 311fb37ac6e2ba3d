package dwell.data.columns

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.base.SliceBounds
import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{DataLimits, ReadRows}
import dwell.data.cache.Cached
import dwell.data.groups.GroupedBlocks
import dwell.data.matrix.{MatrixBlock, PartitionForm}
import dwell.record.HeldBytes
import dwell.spark.{Answers, Sent}

/**
 * Training data as columns, without the constant ones, split into partitions with about equally many nonzeros. They are cached on the
 * workers.
 *
 * If cached data is lost and the source no longer gives the same rows, reading `partitions` fails with an
 * [[dwell.spark.InputChangedException]].
 *
 * @param kept
 *   one [[ColumnPartition]] in each Spark partition, in order of their index; kept and materialised
 * @param isShuffled
 *   whether the partitions were made by a shuffle
 * @param nonzerosPerPartition
 *   number of nonzeros of each partition
 * @param columnsPerPartition
 *   number of columns of each partition
 * @param held
 *   size of all partitions, and the most bytes that were held while they were made
 */
final class ColumnDataset private (
    kept: Kept[ColumnPartition],
    isShuffled: Boolean,
    val nonzerosPerPartition: Array[Long],
    val columnsPerPartition: Array[Int],
    val held: HeldBytes,
    broadcasts: Seq[Broadcast[_]]) {

  private var released = false

  /** One element in each Spark partition, in order of their index. */
  def partitions: RDD[ColumnPartition] = kept

  /**
   * The same for a barrier stage, see [[dwell.bulk.Kept.held]]. What was not shuffled has the user's RDDs before it, which
   * may have any number of partitions.
   *
   * @throws SparkException
   *   if partitions were lost and cannot be computed again
   */
  def forBarrier: RDD[ColumnPartition] = if (isShuffled) kept else kept.held

  /** The number of partitions, K. */
  def numPartitions: Int = nonzerosPerPartition.length

  /** The number of nonzeros of all partitions. */
  def nonzeros: Long = nonzerosPerPartition.sum

  /** Releases the cached partitions and their broadcasts. The dataset is unusable afterwards. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      Cached.release(kept, broadcasts)
    }
  }

  private[data] def isReleased: Boolean = synchronized(released)
}

private[data] object ColumnDataset {

  /**
   * Transposes the rows, and caches the columns. Of several partitions each gets the rows in its own columns by a shuffle.
   *
   * @throws IllegalArgumentException
   *   if there are too many rows, or a partition would be too large
   */
  def of(rows: ReadRows, columns: ColumnFacts, numPartitions: Int): ColumnDataset = {
    val sc = rows.sc
    val numRows = DataLimits.checkSharedRows(rows.numRows)
    val slices = SliceBounds(numRows, numPartitions)
    val assignment = ColumnAssignment.balanced(columns.counts, numPartitions)
    assignment.loads.indices.foreach(k => MatrixBlock.checkLoad(k, numPartitions, assignment.loads(k)))
    val forms = this.forms(assignment, columns.widths, numRows)

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val facts = Sent.of(sc, columns)
    val index = rows.index
    val widths = forms.map(_.width)
    val isShuffled = numPartitions > 1
    def transposed(k: Int, blocks: Iterator[ColumnBlock]) = {
      val all = new Transposition(k, slices, partitionOf.value, facts.value, forms(k), isShuffled)
      blocks.foreach(all.add)
      all.result
    }
    // One worker takes the blocks as they are.
    val together = if (isShuffled) None else Some(new GroupedBlocks(rows.verifiedBlocks, rows.groups(1)))
    val made = together match {
      case Some(group) =>
        group.map { blocks =>
          val own = blocks().map(block => ColumnBlock.of(block, index.firstRow(block).toInt, block.matrix, slices, 0))
          transposed(0, own)
        }
      case None =>
        val projected = rows.verifiedBlocks.mapPartitions { blocks =>
          val projection = new Projection(slices, partitionOf.value, widths)
          blocks.filter(_.rows > 0).flatMap(block => projection(block, index.firstRow(block).toInt))
        }
        BulkShuffle.inOrder(projected, numPartitions, ColumnBlock)(_.firstRow).mapPartitionsWithIndex { (k, blocks) =>
          Iterator.single(transposed(k, blocks))
        }
    }
    val partitions = Kept.of(made, s"${rows.title}: columns").keep(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf, facts.broadcast) ++ together.toSeq.flatMap(_.broadcasts)
    Cached.orRelease(partitions, broadcasts) {
      val sizes = Answers.of(partitions) { it =>
        val p = it.next()
        (p.nonzeros.toLong, p.numColumns, p.bytes)
      }
      new ColumnDataset(
        partitions,
        isShuffled,
        sizes.map(_._1),
        sizes.map(_._2),
        rows.heldWith(sizes.map(_._3).sum),
        broadcasts)
    }
  }

  /** The form of each partition. */
  def forms(assignment: ColumnAssignment, widths: Array[Byte], numRows: Int): Array[PartitionForm] = {
    val numPartitions = assignment.loads.length
    val columnsOf = new Array[Int](numPartitions)
    val widthOf = new Array[Byte](numPartitions)
    var column = 0
    while (column < widths.length) {
      val k = assignment.partitionOf(column)
      if (k >= 0) {
        columnsOf(k) += 1
        if (widths(column) > widthOf(k)) widthOf(k) = widths(column)
      }
      column += 1
    }
    Array.tabulate(numPartitions)(k => PartitionForm.smallest(columnsOf(k), numRows, assignment.loads(k), widthOf(k)))
  }
}
