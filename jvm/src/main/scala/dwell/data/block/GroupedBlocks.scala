package dwell.data.block

import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, NarrowDependency, Partition, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.matrix.ReadBlock

/**
 * Groups of whole source partitions, without a shuffle: each partition has the blocks of one group that have rows as one
 * element, in their order. A task runs where most of its group is, and fetches the rest.
 *
 * @param blocks
 *   the blocks of each source partition
 */
private[data] final class GroupedBlocks[B <: ReadBlock: ClassTag](
    blocks: RDD[B],
    @transient private val groups: BlockGroups)
    extends RDD[Array[B]](blocks.sparkContext, Seq(new GroupedBlocks.OfGroup(blocks, groups.sources))) {
  import GroupedBlocks._

  /**
   * What tasks need to compute a group. Every task of a later job carries its partition, which would contain the data of
   * a source that has them in its partitions. Broadcasts travel only to tasks that compute. The caller destroys them.
   */
  @transient val broadcasts: Seq[Broadcast[Array[Partition]]] = {
    val all = blocks.partitions
    groups.sources.toSeq.map(group => blocks.sparkContext.broadcast(group.map(all(_))))
  }

  override protected def getPartitions: Array[Partition] =
    broadcasts.zipWithIndex.map { case (sources, k) => new Group(k, sources) }.toArray

  override def compute(split: Partition, context: TaskContext): Iterator[Array[B]] =
    Iterator.single(
      split.asInstanceOf[Group].sources.value.flatMap(firstParent[B].iterator(_, context).filter(_.rows > 0)))

  override protected def getPreferredLocations(split: Partition): Seq[String] = {
    val held = groups.sources(split.index).toSeq.flatMap { source =>
      DwellBridge.preferredLocations(firstParent[B], source).map(_ -> groups.loadOf(source))
    }
    held.groupMapReduce(_._1)(_._2)(_ + _).toSeq.sortBy { case (location, load) => (-load, location) }.map(_._1).take(1)
  }
}

private object GroupedBlocks {
  private final class Group(override val index: Int, val sources: Broadcast[Array[Partition]]) extends Partition

  private final class OfGroup[B](blocks: RDD[B], groups: Array[Array[Int]]) extends NarrowDependency[B](blocks) {
    override def getParents(partitionId: Int): Seq[Int] = groups(partitionId).toSeq
  }
}
