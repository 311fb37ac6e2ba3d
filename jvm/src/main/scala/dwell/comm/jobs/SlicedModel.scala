package dwell.comm.jobs

import java.nio.ByteBuffer

import org.apache.spark.{PersistedBlocks, SparkContext, SparkException}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.comm.{Job, ModelLostException}
import dwell.comm.wire.{Packet, Slices, VectorFormat}
import dwell.spark.{Shuffle, Unpersist}

/**
 * A model in slices. Executors hold the slices as the persisted partitions of an RDD. If there are several executors,
 * two of them may hold each slice. The model never reads the RDD's lineage.
 *
 * @param persisted
 *   written packets, with all partitions computed
 */
private[comm] final class SlicedModel private (
    name: String,
    private val persisted: RDD[Array[Byte]],
    slices: Slices,
    format: VectorFormat) {
  import SlicedModel._

  private def sc: SparkContext = persisted.sparkContext
  private val count = persisted.getNumPartitions
  private val blocks = new PersistedBlocks[Array[Byte]](sc, persisted.id, Array.tabulate(count)(Array(_)))

  /** Whether executors hold all slices, as far as the driver knows. */
  def isComplete: Boolean = blocks.missing.isEmpty

  /** @throws ModelLostException if a slice is missing */
  def check(): Unit = {
    val missing = blocks.missing
    if (missing.nonEmpty) throw lost(name, missing)
  }

  /** The whole model in each partition (all-gather). */
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

  /**
   * Brings the whole model to the driver.
   *
   * @throws ModelLostException
   *   if a slice is missing
   */
  def collect(): Array[Byte] = {
    val model = format.zeros
    check()
    orLost(Job.run(parcels)(_.next().toArray) { (k, bytes) => slices.put(model, k, ByteBuffer.wrap(bytes)) })
    model
  }

  /** Frees the slices on all executors, without waiting for them. */
  def drop(): Unit = if (!sc.isStopped) Unpersist(persisted)

  /** The slices. Tasks run on the executors that hold them. */
  def parcels: RDD[Packet] = {
    val name = this.name
    blocks.mapPartitionsWithIndex { (slice, found) =>
      val (_, written) = found.next()().next()
      Iterator.single(Packet.read(ByteBuffer.wrap(written.getOrElse(throw lost(name, Seq(slice))).next())))
    }
  }
}

private[comm] object SlicedModel {
  private final case class Slice(number: Int, bytes: Array[Byte])

  /**
   * Makes a vector of slices that `job` computes.
   *
   * @param name
   *   for messages and Spark's UI
   * @param parcels
   *   one written [[Packet]] in each partition: a slice, and its content. (Spark replicates arrays of bytes without the
   *   user's serialiser, which may not know the classes of this package.)
   * @param replicated
   *   whether two executors hold each slice
   * @throws ModelLostException
   *   if a task of the job found a slice of another vector missing
   */
  def made(name: String, parcels: RDD[Array[Byte]], replicated: Boolean, slices: Slices, format: VectorFormat)(
      job: RDD[Array[Byte]] => Unit): SlicedModel = {
    val level = if (replicated) StorageLevel.MEMORY_AND_DISK_2 else StorageLevel.MEMORY_AND_DISK
    val model = new SlicedModel(name, parcels.setName(s"dwell: $name").persist(level), slices, format)
    try {
      orLost(job(model.persisted))
      model
    } catch {
      case e: Throwable =>
        model.drop()
        throw e
    }
  }

  /**
   * Runs a job that reads models.
   *
   * @throws ModelLostException
   *   if a task found a slice missing
   */
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

  private def lost(name: String, slices: Seq[Int]): ModelLostException =
    new ModelLostException(s"slices ${slices.mkString(", ")} of $name are gone with the executors that held them")
}
