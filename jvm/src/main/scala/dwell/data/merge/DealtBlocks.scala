package dwell.data.merge

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

import dwell.base.SplitMix
import dwell.bulk.BulkShuffle
import dwell.data.matrix.{BlockIndex, MatrixBlock, ReadBlock}

/**
 * Rows that are dealt to partitions by [[RowDistribution]]. A block is cut into one smaller block for each partition. A partition puts
 * the smaller ones together again to blocks of about [[MatrixBlock.ValuesAtATime]] stored values. The same source gives the same blocks,
 * in whatever order the pieces arrive.
 */
private[data] object DealtBlocks {

  /**
   * @param partitions
   *   the number of partitions, K
   * @param mixed
   *   whether the rows of a partition come in random order, always the same, so that each block is a random sample of them. Otherwise
   *   they come in the order of the dataset
   * @return
   *   the blocks of each partition; a shuffle brings them
   */
  def of[B <: ReadBlock: ClassTag](
      blocks: RDD[B],
      index: BlockIndex,
      partitions: Int,
      mixed: Boolean,
      format: PickedFormat[B]): RDD[B] = {
    val pieces = blocks.flatMap(block => cut(block, index.firstRow(block), partitions, format))
    BulkShuffle.byIndex(pieces, partitions, format).mapPartitionsWithIndex { (k, pieces) =>
      together(pieces, k, partitions, mixed, format)
    }
  }

  /** The blocks of partition `k`, from its pieces in any order. */
  private[data] def together[B <: ReadBlock: ClassTag](
      arrived: Iterator[B],
      k: Int,
      partitions: Int,
      mixed: Boolean,
      format: PickedFormat[B]): Iterator[B] = {
    val pieces = inOrder(arrived)
    if (mixed) samples(pieces, k, partitions, format) else joined(pieces, format)
  }

  /** The blocks of one partition that a shuffle brings, in the order of the dataset. */
  def inOrder[B <: ReadBlock: ClassTag](arrived: Iterator[B]): Array[B] =
    arrived.toArray.sortBy(block => (block.at.partition, block.at.rows))

  /** The rows of a block that go to each partition which gets any. */
  private[data] def cut[B <: ReadBlock: ClassTag](
      block: B,
      firstRow: Long,
      partitions: Int,
      format: PickedFormat[B]): Iterator[(Int, B)] = {
    val source = Array(block)
    (0 until partitions).iterator.flatMap { k =>
      val rows = Array.newBuilder[Int]
      RowDistribution.eachRow(k, partitions, firstRow, firstRow + block.rows)((row, _) =>
        rows += (row - firstRow).toInt)
      val own = rows.result()
      if (own.length > 0) Some((k, format.picked(source, PickedRows.of(own)))) else None
    }
  }

  /** Puts neighbours of one form and width together. Forgets pieces on the way, to give their memory back. */
  private def joined[B <: ReadBlock: ClassTag](pieces: Array[B], format: PickedFormat[B]): Iterator[B] =
    new Iterator[B] {
      private var from = 0

      override def hasNext: Boolean = from < pieces.length

      override def next(): B = {
        var until = from + 1
        val first = format.matrix(pieces(from))
        var load = loadOf(first)
        def fits(next: MatrixBlock) = areAlike(first, next) && load + loadOf(next) <= MatrixBlock.ValuesAtATime
        while (until < pieces.length && fits(format.matrix(pieces(until)))) {
          load += loadOf(format.matrix(pieces(until)))
          until += 1
        }
        val own = pieces.slice(from, until)
        java.util.Arrays.fill(pieces.asInstanceOf[Array[AnyRef]], from, until, null)
        from = until
        if (own.length == 1) own.head else format.picked(own, PickedRows.all(own.map(_.rows)))
      }
    }

  /** Deals the rows of a partition, in random order, to blocks of about the same number of rows. */
  private def samples[B <: ReadBlock: ClassTag](
      pieces: Array[B],
      partition: Int,
      partitions: Int,
      format: PickedFormat[B]): Iterator[B] = {
    MatrixBlock.checkLoad(partition, partitions, pieces.map(_.rows.toLong).sum, "rows", MatrixBlock.MaxRows)
    val all = PickedRows.all(pieces.map(_.rows))
    val order = randomOrder(partition, all.count)
    val full = (pieces
      .map(piece => loadOf(format.matrix(piece)))
      .sum + MatrixBlock.ValuesAtATime - 1) / MatrixBlock.ValuesAtATime
    val blocks = math.min(full, all.count.toLong).toInt
    def start(block: Int): Int = (all.count.toLong * block / blocks).toInt
    Iterator.range(0, blocks).map(b => format.picked(pieces, all.ordered(order, start(b), start(b + 1))))
  }

  /** The row at each place. */
  private def randomOrder(partition: Int, count: Int): Array[Int] = {
    val (places, order) = (new Array[Int](count), new Array[Int](count))
    SplitMix.forEpoch(0L, partition, 0L).permute(places)
    var row = 0
    while (row < count) {
      order(places(row)) = row
      row += 1
    }
    order
  }

  private def areAlike(one: MatrixBlock, other: MatrixBlock): Boolean =
    one.isDense == other.isDense && one.values.width == other.values.width

  /** A row counts as one value more. */
  private def loadOf(block: MatrixBlock): Long = block.start(block.rows).toLong + block.rows
}
