package dwell.comm

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.Shuffle

/**
 * The `shuffle` mode: an exchange is one Spark job with a shuffle, by which the updates are added where the workers are: each
 * reducer adds one slice of all of them (reduce-scatter). One vector comes to the driver, in slices, however many workers
 * there are, and goes out again as one broadcast.
 *
 * @param data
 *   one element a partition
 * @param headerBytes
 *   bytes before the vector of a contribution
 * @param length
 *   entries of the vector
 */
final class ShuffleMode[D, M: ClassTag, S: ClassTag](data: RDD[D], headerBytes: Int, length: Int)(
    step: Workers.Step[D, M, S])
    extends Workers[M, S] {
  import ShuffleMode._

  override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] =
    Job.described(data, description) {
      val sc = data.sparkContext
      val partitions = data.getNumPartitions
      val slices = new Slices(length, partitions)
      val sent = sc.broadcast((message, shared))
      val sum = new Array[Double](length)
      val headers = new Array[Array[Byte]](partitions)
      val scalars = new Array[S](partitions)
      val summed = Shuffle.byIndex(pieces(data, sent, headerBytes, slices, partitions)(step), partitions)
      try {
        Job.run(summed)(addUp(_, partitions, slices)) { (k, s) =>
          slices.put(sum, k, ByteBuffer.wrap(s.bytes))
          headers(k) = s.said.header
          scalars(k) = s.said.scalars.asInstanceOf[S]
        }
      } finally
        if (!sc.isStopped) {
          // Spark itself removes them when the driver collects garbage, which may be half an hour later.
          summed.cleanShuffleDependencies()
          sent.destroy()
        }
      Gathered(sum, headers, scalars, 0.0)
    }
}

private object ShuffleMode {

  /** What a worker says beside its vector. */
  private final case class Said(header: Array[Byte], scalars: Any)

  /** One slice of a worker's vector; `said` goes with the slice that has the worker's own number. */
  private final case class Piece(worker: Int, bytes: Array[Byte], said: Option[Said])

  private final case class Summed(bytes: Array[Byte], said: Said)

  private def pieces[D, M, S](
      data: RDD[D],
      sent: Broadcast[(M, Array[Byte])],
      headerBytes: Int,
      slices: Slices,
      count: Int)(step: Workers.Step[D, M, S]): RDD[(Int, Piece)] =
    data.mapPartitionsWithIndex { (worker, elements) =>
      val c = step(elements.next(), sent.value._1, sent.value._2)
      (0 until count).iterator.map { slice =>
        val said = if (slice == worker) Some(Said(Contribution.header(c, headerBytes), c.scalars)) else None
        val bytes = slices.of(c, headerBytes, slice)
        slice -> Piece(worker, arrayOf(bytes), said)
      }
    }

  /** Adds the pieces of one slice. */
  private def addUp(pieces: Iterator[(Int, Piece)], workers: Int, slices: Slices): Summed = {
    val gathering = new Gathering[Unit](workers, slices.size(TaskContext.getPartitionId()))
    var said = Option.empty[Said]
    pieces.foreach { case (_, piece) =>
      gathering.add(piece.worker, null, ByteBuffer.wrap(piece.bytes), ())
      said = said.orElse(piece.said)
    }
    Summed(gathering.sumAsBytes.array, said.get)
  }

  private def arrayOf(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining())
    bytes.get(array)
    array
  }
}
