package dwell.data.groups

import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, NarrowDependency, OneToOneDependency, Partition, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.data.matrix.ReadBlock
import dwell.spark.{Locality, Sent}

/**
 * Groups of whole source partitions, without a shuffle: the one element of a partition gives the blocks of a group that have
 * rows, in their order, as often as a task asks. If Spark keeps the blocks, a task gets them anew each time. If not, it
 * holds them, rather than read the source again. Tasks are spread evenly over the executors. Each prefers the executor that
 * holds most of its blocks, and fetches the rest.
 *
 * @param blocks
 *   the blocks of each source partition
 */
private[data] final class GroupedBlocks[B <: ReadBlock: ClassTag](
    blocks: RDD[B],
    @transient private val groups: BlockGroups)
    extends RDD[() => Iterator[B]](blocks.sparkContext, Seq(new GroupedBlocks.OfGroup(blocks, groups.sources))) {
  import GroupedBlocks._

  /**
   * What tasks need to compute a group. Every task of a later job carries its partition, which would contain the data of
   * a source that has them in its partitions. Broadcasts travel only to tasks that compute.
   */
  @transient private val sent: Seq[Sent[Array[Partition]]] = {
    val all = blocks.partitions
    groups.sources.toSeq.map(group => Sent.of(blocks.sparkContext, group.map(all(_))))
  }

  /** The broadcasts that tasks need. The caller destroys them. */
  def broadcasts: Seq[Broadcast[_]] = sent.map(_.broadcast)

  override protected def getPartitions: Array[Partition] =
    sent.zipWithIndex.map { case (sources, k) => new SourceGroup(k, sources) }.toArray

  override def compute(split: Partition, context: TaskContext): Iterator[() => Iterator[B]] = {
    val sources = split.asInstanceOf[SourceGroup].sources.value
    def blocks: Iterator[B] = sources.iterator.flatMap(firstParent[B].iterator(_, context).filter(_.rows > 0))
    Iterator.single {
      if (isKept(firstParent[B])) () => blocks
      else {
        val held = blocks.toArray
        () => held.iterator
      }
    }
  }

  @transient @volatile private var locations = IndexedSeq.empty[Seq[String]]

  /**
   * Spark asks anew for each job. Each of its tasks would wait for an executor that is gone as it does for a busy one. So tasks
   * are spread again when one has lost its executor, and stay where their blocks then are, although a new executor may come.
   */
  override protected def getPreferredLocations(split: Partition): Seq[String] =
    if (sparkContext.isLocal) Seq.empty
    else {
      val present = DwellBridge.executorLocations(sparkContext)
      if (locations.isEmpty || !locations(split.index).exists(present.contains)) {
        locations = Locality.balanced(sparkContext, held)
      }
      locations(split.index)
    }

  /** How much of each group an executor holds, by its id. */
  private def held: IndexedSeq[Map[String, Long]] = groups.sources.toIndexedSeq.map { sources =>
    val loads = sources.toSeq.flatMap { source =>
      DwellBridge.holders(firstParent[B], source).map(_ -> groups.loadOf(source))
    }
    loads.groupBy(_._1).map { case (holder, of) => holder -> of.map(_._2).sum }
  }
}

private[data] object GroupedBlocks {

  /** Whether one executor holds all blocks of each group, so that no task fetches blocks time and again. */
  def areTogether(blocks: RDD[_], groups: BlockGroups): Boolean =
    blocks.sparkContext.isLocal || groups.sources.forall { group =>
      val holders = group.map(DwellBridge.holders(blocks, _).toSet)
      holders.forall(_.isEmpty) || holders.reduce(_ & _).nonEmpty
    }

  /** Whether Spark keeps the elements of an RDD, or what it makes them of one by one. */
  private def isKept(rdd: RDD[_]): Boolean =
    rdd.getStorageLevel != StorageLevel.NONE || rdd.dependencies.exists {
      case before: OneToOneDependency[_] => isKept(before.rdd)
      case _ => false
    }

  private final class SourceGroup(override val index: Int, val sources: Sent[Array[Partition]]) extends Partition

  private final class OfGroup[B](blocks: RDD[B], groups: Array[Array[Int]]) extends NarrowDependency[B](blocks) {
    override def getParents(partitionId: Int): Seq[Int] = groups(partitionId).toSeq
  }
}
