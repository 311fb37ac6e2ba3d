package dwell.bulk

import java.io.{DataInput, DataOutput, ObjectInput, ObjectOutput}

import scala.reflect.ClassTag

import org.apache.hadoop.io.Writable
import org.apache.spark.{Partition, PersistedBlocks, SerializableWritable, SparkException, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.base.Unpersist

/**
 * Objects that Spark keeps, as `stored` persists them.
 *
 * Spark writes them to disk and to other executors with the user's serialiser. Kryo may have been told to refuse classes
 * that are not registered, and takes all but the largest arrays element by element. Every Kryo of Spark's knows
 * `SerializableWritable`, and leaves it to Java's serialiser, and so to the format of a [[Bulk]] object.
 */
private[dwell] final class Kept[T: ClassTag] private (stored: RDD[SerializableWritable[Kept.Cargo[T]]])
    extends RDD[T](stored) {

  override protected def getPartitions: Array[Partition] = stored.partitions

  override def compute(split: Partition, context: TaskContext): Iterator[T] =
    stored.iterator(split, context).map(_.value.content)

  /** Keeps the objects, from the next job on that computes them. */
  def keep(level: StorageLevel): this.type = {
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
  def held: RDD[T] = {
    val blocks = new PersistedBlocks[SerializableWritable[Kept.Cargo[T]]](sparkContext, stored.id, getNumPartitions)
    val missing = blocks.missing
    if (missing.nonEmpty)
      sparkContext.runJob(stored, (it: Iterator[SerializableWritable[Kept.Cargo[T]]]) => it.hasNext, missing)
    blocks.map(_.getOrElse(throw new SparkException("the cached data of this task was lost")).value.content)
  }

  /** Removes the objects from all executors. See [[dwell.base.Unpersist]]. */
  def drop(): Unit = Unpersist(stored)

  override def cleanShuffleDependencies(blocking: Boolean): Unit = stored.cleanShuffleDependencies(blocking)
}

private[dwell] object Kept {

  /** The objects of `rdd`, not kept yet; `name` is for Spark's storage page. */
  def of[T: ClassTag](rdd: RDD[T], name: String): Kept[T] =
    new Kept(rdd.map(content => new SerializableWritable(new Cargo(content))).setName(name))

  /** Holds an object for `SerializableWritable`, whose streams are Java's streams of objects. */
  private final class Cargo[T](private[Kept] var content: T) extends Writable {

    /** For Hadoop, which then calls `readFields`. */
    def this() = this(null.asInstanceOf[T])

    override def write(out: DataOutput): Unit = out.asInstanceOf[ObjectOutput].writeObject(content)

    override def readFields(in: DataInput): Unit = content = in.asInstanceOf[ObjectInput].readObject().asInstanceOf[T]
  }
}
