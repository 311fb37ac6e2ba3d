package dwell.comm.jobs

import java.nio.ByteBuffer

import org.apache.spark.{PersistedBlocks, SparkContext, SparkException}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.base.Shuffle
import dwell.comm.{Job, ModelLostException}
import dwell.comm.wire.{Packet, Slices, VectorFormat}

/**
 * A model in slices, one a partition, which executors hold as the persisted partitions of an RDD. Where there is more than
 * one executor, two of them hold each slice. What it was made from is not needed any more.
 *
 * @param persisted
 *   see [[SlicedModel.persist]]; with all its partitions computed
 */
private[comm] final class SlicedModel(
    version: Long,
    persisted: RDD[Array[Byte]],
    slices: Slices,
    format: VectorFormat) {
  import SlicedModel._

  private def sc: SparkContext = persisted.sparkContext
  private val count = persisted.getNumPartitions
  private val blocks = new PersistedBlocks[Array[Byte]](sc, persisted.id, count)

  /** Whether executors hold all of it, as far as the driver knows. */
  def isComplete: Boolean = blocks.missing.isEmpty

  /** @throws ModelLostException if it is not complete */
  def check(): Unit = {
    val missing = blocks.missing
    if (missing.nonEmpty) throw lost(version, missing)
  }

  /** All of the model in each partition (all-gather). */
  def everywhere: RDD[Array[Byte]] = {
    val (slices, format, readers) = (this.slices, this.format, count)
    val copies = parcels.mapPartitionsWithIndex { (slice, parcels) =>
      val bytes = Packet((), slices.codec.encode(parcels.next().bytes)).toArray
      (0 until readers).iterator.map(_ -> Slice(slice, bytes))
    }
    Shuffle.byIndex(copies, readers).mapPartitions { pieces =>
      val model = format.zeros
      pieces.foreach { case (_, Slice(slice, bytes)) => slices.put(model, slice, ByteBuffer.wrap(bytes)) }
      Iterator.single(model)
    }
  }

  def collect(): Array[Byte] = {
    val model = format.zeros
    check()
    orLost(Job.run(parcels)(_.next().toArray) { (k, bytes) => slices.put(model, k, ByteBuffer.wrap(bytes)) })
    model
  }

  def drop(): Unit = if (!sc.isStopped) persisted.unpersist(blocking = false)

  /** Its slices, where they are. */
  def parcels: RDD[Packet] = {
    val version = this.version
    blocks.mapPartitionsWithIndex { (slice, found) =>
      Iterator.single(Packet.read(ByteBuffer.wrap(found.next().getOrElse(throw lost(version, Seq(slice))))))
    }
  }
}

private[comm] object SlicedModel {
  private final case class Slice(number: Int, bytes: Array[Byte])

  /**
   * Persists an RDD of slices.
   *
   * @param parcels
   *   one a partition, written: a slice, and whatever goes with it. (Spark replicates arrays of bytes without the user's
   *   serialiser, which may not know any class of this package.)
   */
  def persist(parcels: RDD[Array[Byte]], replicated: Boolean, name: String): RDD[Array[Byte]] =
    parcels
      .setName(name)
      .persist(if (replicated) StorageLevel.MEMORY_AND_DISK_2 else StorageLevel.MEMORY_AND_DISK)

  /** Runs a job that reads models. */
  def orLost[T](job: => T): T =
    try job
    catch {
      case e: SparkException =>
        e.getCause match {
          case lost: ModelLostException =>
            lost.addSuppressed(e)
            throw lost
          case _ => throw e
        }
    }

  private def lost(version: Long, slices: Seq[Int]): ModelLostException =
    new ModelLostException(
      s"slices ${slices.mkString(", ")} of model $version are gone with the executors that held them")
}
