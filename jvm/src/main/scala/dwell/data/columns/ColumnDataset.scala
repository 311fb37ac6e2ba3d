package dwell.data.columns

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.storage.StorageLevel

import dwell.base.SliceBounds
import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{DataLimits, ReadRows, RowBlock}
import dwell.data.cache.{Cached, CachedDataset}
import dwell.data.groups.GroupedBlocks
import dwell.data.matrix.{ColumnCounts, IndexedSums, MatrixBlock, PartitionForm}
import dwell.record.HeldBytes
import dwell.spark.Answers

/**
 * Training data as columns, without the constant ones, split into partitions with about equally many nonzeros.
 *
 * @param partitions
 *   one [[ColumnPartition]] in each Spark partition
 * @param columnsPerPartition
 *   number of columns of each partition
 */
final class ColumnDataset private (
    partitions: Kept[ColumnPartition],
    isShuffled: Boolean,
    nonzerosPerPartition: Array[Long],
    val columnsPerPartition: Array[Int],
    held: HeldBytes,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[ColumnPartition](partitions, isShuffled, nonzerosPerPartition, held, broadcasts)

private[data] object ColumnDataset {

  /**
   * The number of nonzeros of each column, and the narrowest width that holds them.
   *
   * @param counts
   *   0 for a constant column, which is left out and must not affect the balance
   */
  final class Columns(val counts: Array[Int], val widths: Array[Byte]) {

    /** The number of nonzeros of all columns but the constant ones. */
    def nonzeros: Long = counts.iterator.map(_.toLong).sum
  }

  def countColumns(rows: ReadRows): Columns = {
    val numFeatures = rows.numFeatures
    val ofPartitions = rows.verifiedBlocks.mapPartitions { blocks =>
      Iterator.single(ColumnCounts.of(blocks.map(_.matrix), numFeatures).sums(numFeatures))
    }
    val sums = IndexedSums.total(ofPartitions, ColumnCounts.sumsOf(numFeatures))
    val (counts, widths) = ColumnCounts.ofSums(sums)
    rows.constant.foreach(column => counts(column) = 0)
    new Columns(counts, widths)
  }

  /**
   * Moves the nonzeros to the partitions of their columns, and caches the partitions.
   *
   * @throws IllegalArgumentException
   *   if there are too many rows, a partition would be too large, or a variance overflows
   */
  def of(rows: ReadRows, columns: Columns, numPartitions: Int): ColumnDataset = {
    val sc = rows.sc
    val numRows = DataLimits.checkSharedRows(rows.numRows)
    val slices = SliceBounds(numRows, numPartitions)
    val assignment = ColumnAssignment.balanced(columns.counts, numPartitions)
    assignment.loads.indices.foreach(k => MatrixBlock.checkLoad(k, numPartitions, assignment.loads(k)))
    val forms = this.forms(assignment, columns.widths, numRows, PartitionForm.Choice.ForSolvers)

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val counts = sc.broadcast(columns.counts)
    val index = rows.index
    val totalWeight = rows.totalWeight
    val names = rows.names
    val widths = forms.map(_.width)
    def cut(block: RowBlock) =
      ColumnCut(block.matrix, index.firstRow(block).toInt, partitionOf.value, widths)
    def valuesOf(block: RowBlock) = {
      val first = index.firstRow(block).toInt
      (0 until numPartitions).iterator.map(k => k -> RowValues.of(block, first, slices, k)).filterNot(_._2.isEmpty)
    }
    def merge(k: Int) = new ColumnMerge(k, slices, partitionOf.value, counts.value, forms(k))
    // One worker takes the blocks as they are.
    val together = if (numPartitions > 1) None else Some(new GroupedBlocks(rows.verifiedBlocks, rows.groups(1)))
    val merged = together match {
      case Some(group) =>
        group.map { blocks =>
          val all = merge(0)
          val values = blocks().flatMap { block =>
            cut(block).foreach { case (_, piece) => all.add(piece) }
            valuesOf(block).map(_._2)
          }
          all.result(values.toArray, totalWeight, names)
        }
      case None =>
        BulkShuffle.together(
          BulkShuffle.byIndex(rows.verifiedBlocks.flatMap(valuesOf(_)), numPartitions, RowValues),
          BulkShuffle.byIndex(rows.verifiedBlocks.flatMap(cut(_)), numPartitions, ColumnPiece)) { (k, values, pieces) =>
          val all = merge(k)
          pieces.foreach(all.add)
          all.result(values.toArray, totalWeight, names)
        }
    }
    val partitions = Kept.of(merged, s"${rows.title}: columns").keep(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf, counts) ++ together.toSeq.flatMap(_.broadcasts)
    Cached.orRelease(partitions, broadcasts) {
      val sizes = Answers.of(partitions) { it =>
        val p = it.next()
        (p.nonzeros.toLong, p.numColumns, p.bytes)
      }
      new ColumnDataset(
        partitions,
        together.isEmpty,
        sizes.map(_._1),
        sizes.map(_._2),
        rows.heldWith(sizes.map(_._3).sum),
        broadcasts)
    }
  }

  /** The form of each partition. */
  def forms(
      assignment: ColumnAssignment,
      widths: Array[Byte],
      numRows: Int,
      choice: PartitionForm.Choice): Array[PartitionForm] = {
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
    Array.tabulate(numPartitions)(k => choice(columnsOf(k), numRows, assignment.loads(k), widthOf(k)))
  }
}
