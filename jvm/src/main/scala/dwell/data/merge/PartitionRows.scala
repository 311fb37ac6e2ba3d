package dwell.data.merge

import dwell.base.SplitMix
import dwell.data.matrix.MatrixBlock

/**
 * The rows of one partition: their numbers in the whole dataset, and their places in the partition.
 *
 * @param index
 *   the partition's number, 0 to numPartitions - 1
 * @param mixed
 *   whether the rows come in random order, always the same for a partition; otherwise in the order of the dataset
 * @throws IllegalArgumentException
 *   if the partition has too many rows for one array
 */
private[data] sealed abstract class PartitionRows(
    val index: Int,
    val numPartitions: Int,
    count: Long,
    val mixed: Boolean) {

  /** The number of rows of the partition. */
  val size: Int = {
    MatrixBlock.checkLoad(index, numPartitions, count, "rows", MatrixBlock.MaxRows)
    count.toInt
  }

  // Always the same for a partition, so that a lost partition comes out the same when Spark computes it again.
  private val places =
    if (!mixed) null
    else {
      val places = new Array[Int](size)
      SplitMix.forEpoch(0L, index, 0L).permute(places)
      places
    }

  /**
   * Calls `use` with each row of the partition from `from` until `until`, ascending, and its position among the rows of
   * the partition in the order of the dataset.
   */
  protected def eachPosition(from: Long, until: Long)(use: (Long, Int) => Unit): Unit

  /** A number above the numbers of all rows. */
  protected def end: Long

  /** Calls `use` with each row of the partition from `from` until `until`, ascending, and its place. */
  final def eachPlace(from: Long, until: Long)(use: (Long, Int) => Unit): Unit =
    if (places == null) eachPosition(from, until)(use)
    else eachPosition(from, until)((row, position) => use(row, places(position)))

  /** The number of the row at each place. */
  final def numbers: Array[Long] = {
    val numbers = new Array[Long](size)
    eachPlace(0L, end)((row, place) => numbers(place) = row)
    numbers
  }
}

/**
 * The rows that [[RowDistribution]] deals to a partition.
 *
 * @param numRows
 *   number of rows of the whole dataset
 */
private[data] final class DealtRows(index: Int, numPartitions: Int, numRows: Long, mixed: Boolean)
    extends PartitionRows(index, numPartitions, RowDistribution.size(index, numPartitions, numRows), mixed) {

  override protected def end: Long = numRows

  override protected def eachPosition(from: Long, until: Long)(use: (Long, Int) => Unit): Unit =
    RowDistribution.eachRow(index, numPartitions, from, until)(use)
}

/**
 * The rows of a group of whole blocks.
 *
 * @param firstRows
 *   number of the first row of each block of the group, ascending
 * @param counts
 *   number of rows of each of these blocks
 */
private[data] final class BlockRows(
    index: Int,
    numPartitions: Int,
    firstRows: Array[Long],
    counts: Array[Int],
    mixed: Boolean)
    extends PartitionRows(index, numPartitions, counts.map(_.toLong).sum, mixed) {
  private val firstPositions = counts.scanLeft(0)(_ + _)

  override protected def end: Long = firstRows.last + counts.last

  override protected def eachPosition(from: Long, until: Long)(use: (Long, Int) => Unit): Unit = {
    var block = java.util.Arrays.binarySearch(firstRows, from) match {
      case at if at >= 0 => at
      case at => math.max(0, -at - 2)
    }
    while (block < firstRows.length && firstRows(block) < until) {
      val first = firstRows(block)
      var row = math.max(first, from)
      val last = math.min(first + counts(block), until)
      while (row < last) {
        use(row, firstPositions(block) + (row - first).toInt)
        row += 1L
      }
      block += 1
    }
  }
}
