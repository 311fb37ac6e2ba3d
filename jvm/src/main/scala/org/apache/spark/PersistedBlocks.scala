package org.apache.spark

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.ExecutorCacheTaskLocation
import org.apache.spark.storage.{BlockId, RDDBlockId}

/**
 * The blocks of a persisted RDD, without its lineage: Spark does not compute a lost block again. Each partition has one
 * element: the first element of the persisted partition, or None if its block is gone.
 *
 * @param of
 *   id of the persisted RDD
 * @param count
 *   number of its partitions
 */
final class PersistedBlocks[T: ClassTag](spark: SparkContext, of: Int, count: Int) extends RDD[Option[T]](spark, Nil) {
  import PersistedBlocks._

  /** The partitions that no executor holds, as far as the driver knows. */
  def missing: Seq[Int] = {
    val locations = SparkEnv.get.blockManager.master.getLocations(Array.tabulate[BlockId](count)(RDDBlockId(of, _)))
    // The scheduler knows of a lost executor before the list of blocks does.
    lazy val executors = sparkContext.getExecutorIds().toSet
    locations.indices.filterNot(locations(_).exists(at => sparkContext.isLocal || executors(at.executorId)))
  }

  override protected def getPartitions: Array[Partition] =
    Array.tabulate(count)(new Block(_))

  override def compute(split: Partition, context: TaskContext): Iterator[Option[T]] = {
    val found = SparkEnv.get.blockManager.get[T](RDDBlockId(of, split.index))
    Iterator.single(found.map(_.data.asInstanceOf[Iterator[T]].next()))
  }

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    SparkEnv.get.blockManager.master
      .getLocations(RDDBlockId(of, split.index))
      .map(at => ExecutorCacheTaskLocation(at.host, at.executorId).toString)
}

private object PersistedBlocks {
  private final class Block(override val index: Int) extends Partition
}
