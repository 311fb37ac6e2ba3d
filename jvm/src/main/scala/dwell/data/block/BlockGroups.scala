package dwell.data.block

import scala.collection.mutable

import dwell.data.matrix.MatrixBlock

/** What the driver knows of the size of a block. */
private[data] final case class BlockSize(rows: Int, nonzeros: Int) {

  /** The work that the block makes. A row counts as one more nonzero: it costs something even if it has none. */
  def load: Long = rows.toLong + nonzeros
}

/**
 * The blocks that have rows, in groups that become partitions as they are. Groups are numbered in the order of their
 * first blocks.
 *
 * @param blocks
 *   the blocks of each group, ascending
 * @param sizes
 *   size of every block of the source
 */
private[data] final class BlockGroups private (val blocks: Array[Array[Int]], sizes: IndexedSeq[BlockSize]) {

  /** The number of groups. */
  def count: Int = blocks.length

  def loadOf(block: Int): Long = sizes(block).load

  /** Why the rows of the groups are not of about the same length; None if they are. */
  def unevenLengths: Option[String] = {
    val rows = sums(_.rows.toLong)
    val most = rows.max * count.toDouble / rows.sum
    if (most <= BlockGroups.Balanced) None
    else Some(f"a group of the source's partitions would have $most%.2f times the mean number of rows")
  }

  /**
   * How far the groups are from having their shares of any stretch of the source's rows: the largest distance between the
   * distribution of a group's rows along the source and that of all rows (Kolmogorov's). A group has at most twice this
   * share of its rows too many or too few from any stretch.
   */
  def unevenness: Double = {
    val all = sums(_.rows.toLong).sum.toDouble
    blocks.map { group =>
      val own = group.toSet
      val ownRows = group.map(sizes(_).rows.toLong).sum.toDouble
      var (before, ownBefore) = (0L, 0L)
      var most = 0.0
      sizes.indices.foreach { b =>
        before += sizes(b).rows
        if (own(b)) ownBefore += sizes(b).rows
        most = math.max(most, math.abs(ownBefore / ownRows - before / all))
      }
      most
    }.max
  }

  /** Why these groups cannot be the partitions of so many workers; None if they can. */
  private def objection(workers: Int): Option[String] = {
    val loads = sums(_.load)
    val most = loads.max * workers.toDouble / loads.sum
    if (most > BlockGroups.Balanced) {
      Some(
        f"with $count%d groups of the source's ${sizes.count(_.rows > 0)}%d partitions one of $workers%d workers would " +
          f"have $most%.2f times the mean of the work")
    } else if (sums(_.nonzeros.toLong).max > MatrixBlock.MaxArrayLength || sums(
        _.rows.toLong).max > MatrixBlock.MaxRows) {
      Some("a group of the source's partitions has no room in one array")
    } else None
  }

  private def sums(term: BlockSize => Long): Array[Long] = blocks.map(_.map(b => term(sizes(b))).sum)
}

private[data] object BlockGroups {

  /**
   * The most work that a worker may have, over the mean of all workers. In a round all wait for it. What a round loses
   * so is less than what a shuffle of all data costs, except in very long fits.
   */
  private val Balanced = 1.25

  /**
   * Groups for the given number of workers: fewer if not so many blocks have rows, unless there must be exactly as many.
   *
   * Each block in turn goes to the group that has the least load so far. The first try takes the largest blocks first,
   * which balances best (Graham, "Bounds on multiprocessing timing anomalies", 1969); ties go to the lower number. The
   * second one takes them in their order, so that blocks of about one size are dealt in turn, and each group gets its
   * share of any stretch of the source.
   *
   * @param unfit
   *   why groups that are balanced are still not fit; None if they are
   * @return
   *   the groups, or why there are none, which completes a sentence
   */
  def choose(sizes: IndexedSeq[BlockSize], workers: Int, exactly: Boolean)(
      unfit: BlockGroups => Option[String]): Either[String, BlockGroups] = {
    val filled = sizes.indices.filter(sizes(_).rows > 0)
    if (exactly && filled.size < workers) {
      Left(s"numWorkers is $workers, and the number of source partitions with rows is ${filled.size}")
    } else {
      val count = math.min(workers, filled.size)
      val tries = Seq(filled.sortBy(b => (-sizes(b).load, b)), filled).map { order =>
        val groups = new BlockGroups(greedy(order, sizes, count), sizes)
        groups.objection(workers).orElse(unfit(groups)).toLeft(groups)
      }
      tries.find(_.isRight).getOrElse(tries.head)
    }
  }

  private def greedy(order: IndexedSeq[Int], sizes: IndexedSeq[BlockSize], count: Int): Array[Array[Int]] = {
    val groups = Array.fill(count)(Array.newBuilder[Int])
    val lightest = mutable.PriorityQueue.from((0 until count).map(k => (0L, k)))(Ordering[(Long, Int)].reverse)
    order.foreach { b =>
      val (load, k) = lightest.dequeue()
      groups(k) += b
      lightest.enqueue((load + sizes(b).load, k))
    }
    groups.map(_.result().sorted).sortBy(_.head)
  }
}
