package dwell.bulk

import scala.reflect.ClassTag

import org.apache.spark.{Partition, PersistedBlocks, SerializableWritable, SparkException, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.spark.{Cargo, Unpersist}

/**
 * Objects that Spark keeps, as `stored` persists them. Spark writes them to disk and to other executors with the user's
 * serialiser: see [[dwell.spark.Cargo]], which leaves [[Bulk]] objects to their own format.
 *
 * @param chosen
 *   those of a partition that are here; None for all of them. Another `Kept` then owns the objects
 */
private[dwell] final class Kept[T: ClassTag] private (
    stored: RDD[SerializableWritable[Cargo[T]]],
    chosen: Option[Iterator[T] => Iterator[T]])
    extends RDD[T](stored) {

  override protected def getPartitions: Array[Partition] = stored.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[T] =
    choose(stored.iterator(split, context).map(_.value.content))

  private def choose: Iterator[T] => Iterator[T] = chosen.getOrElse(identity)

  /** A part of the objects, which this one keeps. */
  def part(of: Iterator[T] => Iterator[T]): Kept[T] = new Kept(stored, Some(choose.andThen(of)))

  /** Whether the objects are a part of what another one keeps. */
  def isPart: Boolean = chosen.isDefined

  /** Keeps the objects, from the next job on that computes them. */
  def keep(level: StorageLevel): this.type = {
    require(!isPart, "another one keeps the objects")
    stored.persist(level)
    this
  }

  /** Whether Spark is to keep the objects. */
  def isKept: Boolean = stored.getStorageLevel != StorageLevel.NONE

  /**
   * The same objects without their lineage, for a barrier stage: Spark refuses one if an RDD before it, up to the last
   * shuffle, has another number of partitions. A job first computes the objects that Spark does not hold. If one is lost
   * afterwards, a task that reads it fails.
   */
  def held: RDD[T] = held(Array.tabulate(getNumPartitions)(Array(_))).map(_().next()._2.next())

  /** The same for groups of partitions: the element of a group gives its partitions, each time anew. */
  def held(groups: Array[Array[Int]]): RDD[() => Iterator[(Int, Iterator[T])]] = {
    val blocks = new PersistedBlocks[SerializableWritable[Cargo[T]]](sparkContext, stored.id, groups)
    val missing = blocks.missing
    if (missing.nonEmpty)
      sparkContext.runJob(stored, (it: Iterator[SerializableWritable[Cargo[T]]]) => it.foreach(_ => ()), missing)
    val choose = this.choose // so that tasks do not get this object
    blocks.map { group => () =>
      group().map { case (partition, objects) =>
        val all = objects.getOrElse(throw new SparkException("the cached data of this task was lost"))
        partition -> choose(all.map(_.value.content))
      }
    }
  }

  /** Removes the objects from all executors if they are kept. See [[dwell.spark.Unpersist]]. */
  def drop(): Unit = if (isKept && !isPart) Unpersist(stored)

  override def cleanShuffleDependencies(blocking: Boolean): Unit = stored.cleanShuffleDependencies(blocking)
}

private[dwell] object Kept {

  /** The objects of `rdd`, not kept yet; `name` is for Spark's storage page. */
  def of[T: ClassTag](rdd: RDD[T], name: String): Kept[T] =
    new Kept(rdd.map(Cargo.of).setName(name), None)
}
