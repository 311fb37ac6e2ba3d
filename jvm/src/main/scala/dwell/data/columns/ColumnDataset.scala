package dwell.data.columns

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.storage.StorageLevel

import dwell.base.{Answers, Shuffle, TaskFailure}
import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{Cached, CachedDataset, ReadRows}
import dwell.data.matrix.{MatrixBlock, PartitionForm}

/**
 * Training data as columns, without the constant ones, split into partitions with about equally many nonzeros.
 *
 * @param partitions
 *   one [[ColumnPartition]] in each Spark partition
 * @param columnsPerPartition
 *   number of columns of each partition
 * @param weightsBroadcast
 *   weight of each row, or null if every weight is 1
 */
final class ColumnDataset private (
    partitions: Kept[ColumnPartition],
    nonzerosPerPartition: Array[Long],
    val columnsPerPartition: Array[Int],
    val weightsBroadcast: Broadcast[Array[Double]],
    bytes: Long,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[ColumnPartition](partitions, nonzerosPerPartition, bytes, broadcasts)

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

  def countColumns(rows: ReadRows): Columns = TaskFailure.unwrapped {
    val numFeatures = rows.numFeatures
    // Tasks add the counts in groups, so that the driver does not get those of every block.
    val numGroups = math.ceil(math.sqrt(rows.numBlocks.toDouble)).toInt
    val byGroup = rows.verifiedBlocks.map(block => (block.index % numGroups, block.matrix.columnCounts(numFeatures)))
    val groups = Shuffle.byIndex(byGroup, numGroups)
    val total = Shuffle
      .once(groups)(Answers.of(groups)(_.map(_._2).reduce(_ + _)))
      .reduce(_ + _)
    val counts = total.toDense(numFeatures)
    rows.constant.indices.foreach(column => counts(column) = 0)
    new Columns(counts, total.denseWidths(numFeatures))
  }

  /**
   * Moves the nonzeros to the partitions of their columns, and caches the partitions.
   *
   * @throws IllegalArgumentException
   *   if a partition would be too large, or a variance overflows
   */
  def of(rows: ReadRows, columns: Columns, numPartitions: Int): ColumnDataset = {
    val sc = rows.sc
    val assignment = ColumnAssignment.balanced(columns.counts, numPartitions)
    assignment.loads.indices.foreach(k => MatrixBlock.checkLoad(k, numPartitions, assignment.loads(k)))
    val numRows = rows.numRows
    val forms = this.forms(assignment, columns.widths, numRows, PartitionForm.Choice.ForSolvers)

    val partitionOf = sc.broadcast(assignment.partitionOf)
    val counts = sc.broadcast(columns.counts)
    val weights = Cached.broadcast(sc, rows.weights)
    val firstRows = rows.index.firstRows
    val totalWeight = rows.totalWeight
    val names = rows.names
    val widths = forms.map(_.width)
    val pieces = rows.verifiedBlocks.flatMap { block =>
      ColumnCut(block.matrix, firstRows(block.index), partitionOf.value, widths)
    }
    val merged = BulkShuffle.byIndex(pieces, numPartitions, ColumnPiece).mapPartitionsWithIndex { (k, it) =>
      val merge = new ColumnMerge(k, numRows, partitionOf.value, counts.value, forms(k))
      it.foreach { case (_, piece) => merge.add(piece) }
      Iterator.single(merge.result(Cached.valueOf(weights), totalWeight, names))
    }
    val partitions = Kept.of(merged, s"${rows.title}: columns").keep(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(partitionOf, counts) ++ Option(weights)
    Cached.orRelease(partitions, broadcasts) {
      val sizes = Answers.of(partitions) { it =>
        val p = it.next()
        (p.nonzeros.toLong, p.numColumns, p.bytes)
      }
      new ColumnDataset(partitions, sizes.map(_._1), sizes.map(_._2), weights, sizes.map(_._3).sum, broadcasts)
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
