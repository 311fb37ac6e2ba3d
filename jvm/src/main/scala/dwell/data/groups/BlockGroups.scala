package dwell.data.groups

import scala.collection.mutable

import dwell.data.matrix.MatrixBlock

/** What the driver knows of the size of a source partition. */
private[data] final case class SourceSize(rows: Long, nonzeros: Long) {

  /** The work that it makes. A row counts as one more nonzero: it costs something even if it has none. */
  def load: Long = rows + nonzeros
}

/**
 * The source partitions that have rows, in groups whose blocks become partitions as they are. Groups are numbered in the
 * order of their first source partitions.
 *
 * @param sources
 *   the source partitions of each group, ascending
 * @param sizes
 *   size of every source partition
 */
private[data] final class BlockGroups private (val sources: Array[Array[Int]], sizes: IndexedSeq[SourceSize]) {

  /** The number of groups. */
  def count: Int = sources.length

  /** The rows of each group. */
  def rows: Array[Long] = sums(_.rows)

  /** The nonzeros of each group. */
  def nonzeros: Array[Long] = sums(_.nonzeros)

  def loadOf(source: Int): Long = sizes(source).load

  /** Why the rows of the groups are not of about the same length; None if they are. */
  def unevenLengths: Option[String] = {
    val rows = sums(_.rows)
    val most = rows.max * count.toDouble / rows.sum
    if (most <= BlockGroups.Balanced) None
    else Some(f"a group of the source's partitions would have $most%.2f times the mean number of rows")
  }

  /**
   * How far the groups are from having their shares of any stretch of the source's rows: the largest distance between the
   * distribution of a group's rows along the source and the distribution of all rows (Kolmogorov's). A group has at most twice this
   * share of its rows too many or too few from any stretch.
   */
  def unevenness: Double = {
    val all = sums(_.rows).sum.toDouble
    sources.map { group =>
      val own = group.toSet
      val ownRows = group.map(sizes(_).rows).sum.toDouble
      var (before, ownBefore) = (0L, 0L)
      var most = 0.0
      sizes.indices.foreach { p =>
        before += sizes(p).rows
        if (own(p)) ownBefore += sizes(p).rows
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
    } else if (sums(_.nonzeros).max > MatrixBlock.MaxArrayLength || sums(_.rows).max > MatrixBlock.MaxRows) {
      Some("a group of the source's partitions has no room in one array")
    } else None
  }

  private def sums(term: SourceSize => Long): Array[Long] = sources.map(_.map(p => term(sizes(p))).sum)
}

private[data] object BlockGroups {

  /**
   * The most work that a worker may have, over the mean of all workers. In a round all wait for it. What a round loses
   * so is less than what a shuffle of all data costs, except in very long fits.
   */
  private val Balanced = 1.25

  /**
   * Groups for the given number of workers: fewer if not so many source partitions have rows, unless there must be
   * exactly as many.
   *
   * Each source partition in turn goes to the group that has the least load so far. The first try takes the largest first,
   * which balances best (Graham, "Bounds on multiprocessing timing anomalies", 1969); ties go to the lower number. The
   * second one takes them in their order, so that those of about one size are dealt in turn, and each group gets its
   * share of any stretch of the source.
   *
   * @param unfit
   *   why groups that are balanced are still not fit; None if they are
   * @return
   *   the groups, or why there are none, which completes a sentence
   */
  def choose(sizes: IndexedSeq[SourceSize], workers: Int, exactly: Boolean)(
      unfit: BlockGroups => Option[String]): Either[String, BlockGroups] = {
    val filled = sizes.indices.filter(sizes(_).rows > 0)
    if (exactly && filled.size < workers) {
      Left(s"numWorkers is $workers, and the number of source partitions with rows is ${filled.size}")
    } else {
      val count = math.min(workers, filled.size)
      val tries = Seq(filled.sortBy(p => (-sizes(p).load, p)), filled).map { order =>
        val groups = new BlockGroups(greedy(order, sizes, count), sizes)
        groups.objection(workers).orElse(unfit(groups)).toLeft(groups)
      }
      tries.find(_.isRight).getOrElse(tries.head)
    }
  }

  /**
   * At most so many groups, for tasks that read them again and again: each group belongs to an executor, and takes the source
   * partitions that this executor holds unless the groups would be uneven.
   *
   * @param holders
   *   the executors that hold each source partition
   * @param executors
   *   their slots; none in local mode
   */
  def nearest(
      sizes: IndexedSeq[SourceSize],
      workers: Int,
      holders: Int => Seq[String],
      executors: Seq[(String, Int)]): BlockGroups = {
    val filled = sizes.indices.filter(sizes(_).rows > 0).sortBy(p => (-sizes(p).load, p))
    val count = math.min(workers, filled.size)
    // The first slot of each executor, then the second.
    val slots =
      executors.flatMap { case (executor, slots) => (0 until slots).map(_ -> executor) }.sortBy(_._1).map(_._2)
    def owner(k: Int): Option[String] = if (slots.nonEmpty) Some(slots(k % slots.size)) else None
    val most = Balanced * filled.map(sizes(_).load).sum / count
    val loads = new Array[Long](count)
    val groups = Array.fill(count)(Array.newBuilder[Int])
    filled.foreach { p =>
      val held = if (slots.isEmpty) Set.empty[String] else holders(p).toSet
      val near = (0 until count).filter(owner(_).exists(held)).sortBy(loads(_)).headOption
      val k = near.filter(loads(_) + sizes(p).load <= most).getOrElse(loads.indices.minBy(loads(_)))
      groups(k) += p
      loads(k) += sizes(p).load
    }
    new BlockGroups(groups.map(_.result().sorted).filter(_.nonEmpty).sortBy(_.head), sizes)
  }

  /** Each partition as a group of its own. */
  def each(sizes: IndexedSeq[SourceSize]): BlockGroups =
    new BlockGroups(Array.tabulate(sizes.size)(Array(_)), sizes)

  private def greedy(order: IndexedSeq[Int], sizes: IndexedSeq[SourceSize], count: Int): Array[Array[Int]] = {
    val groups = Array.fill(count)(Array.newBuilder[Int])
    val lightest = mutable.PriorityQueue((0 until count).map(k => (0L, k)): _*)(Ordering[(Long, Int)].reverse)
    order.foreach { p =>
      val (load, k) = lightest.dequeue()
      groups(k) += p
      lightest.enqueue((load + sizes(p).load, k))
    }
    groups.map(_.result().sorted).sortBy(_.head)
  }
}

/** How rows or documents came to their partitions, in words for reports. */
private[data] object Placement {

  val left: String = "rows left where Spark has them"

  /** @param groups the groups that the source partitions make */
  def left(groups: BlockGroups): String =
    s"where they were read: ${sourcesOf(groups)} source partitions in ${groups.count} groups"

  /** @param groups the groups that the source partitions make */
  def gathered(groups: BlockGroups): String =
    s"rows gathered: ${sourcesOf(groups)} source partitions in ${groups.count} groups, of which executors held parts"

  def moved(reason: String): String = s"whole blocks moved by a shuffle, because $reason"

  def dealt(reason: String): String = s"rows dealt by a shuffle, because $reason"

  private def sourcesOf(groups: BlockGroups): Int = groups.sources.map(_.length).sum
}
