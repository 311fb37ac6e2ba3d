package org.apache.spark

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.storage.{BlockId, RDDBlockId}

/**
 * The blocks of a persisted RDD, without its lineage: Spark does not compute a lost block again. Each partition has one
 * element, which gives the persisted partitions of a group, by number; None for a partition whose block is gone.
 *
 * @param of
 *   id of the persisted RDD
 * @param groups
 *   the numbers of its partitions, by group
 */
final class PersistedBlocks[T: ClassTag](spark: SparkContext, of: Int, groups: Array[Array[Int]])
    extends RDD[() => Iterator[(Int, Option[Iterator[T]])]](spark, Nil) {
  import PersistedBlocks._

  /** The partitions that no executor holds, as far as the driver knows. */
  def missing: Seq[Int] = {
    val all = groups.flatten
    val locations = SparkEnv.get.blockManager.master.getLocations(all.map(blockOf))
    // The scheduler knows of a lost executor before the list of blocks does.
    lazy val executors = sparkContext.getExecutorIds().toSet
    all.indices
      .filterNot(locations(_).exists(at => sparkContext.isLocal || executors(at.executorId)))
      .map(all(_))
  }

  private def blockOf(partition: Int): BlockId = RDDBlockId(of, partition)

  override protected def getPartitions: Array[Partition] =
    groups.indices.map(k => new PersistedGroup(k, groups(k))).toArray

  override def compute(split: Partition, context: TaskContext): Iterator[() => Iterator[(Int, Option[Iterator[T]])]] = {
    val (id, sources) = (of, split.asInstanceOf[PersistedGroup].sources)
    Iterator.single { () =>
      sources.iterator.map { source =>
        source -> SparkEnv.get.blockManager.get[T](RDDBlockId(id, source)).map(_.data.asInstanceOf[Iterator[T]])
      }
    }
  }

  override protected def getPreferredLocations(split: Partition): Seq[String] = {
    val sources = split.asInstanceOf[PersistedGroup].sources
    val active = DwellBridge.executors(sparkContext).toSet
    // Only where most of the group is: a task would run on any executor of a list.
    SparkEnv.get.blockManager.master
      .getLocations(sources.map(blockOf))
      .flatten
      .filter(at => active(at.executorId))
      .groupBy(identity)
      .toSeq
      .sortBy { case (at, found) => (-found.size, at.executorId) }
      .take(1)
      .map { case (at, _) => ExecutorCacheTaskLocation(at.host, at.executorId).toString }
  }
}

private object PersistedBlocks {
  private final class PersistedGroup(override val index: Int, val sources: Array[Int]) extends Partition
}
