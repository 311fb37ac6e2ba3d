package dwell.comm.jobs

import java.nio.ByteBuffer

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD

import dwell.comm.{Gathering, Job, Replies}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}
import dwell.spark.Shuffle

/** The sum of the workers' vectors by a shuffle: each reducer adds one slice of all of them (reduce-scatter). */
private[jobs] object ShuffledSum {

  /** A worker's answer without its vector. */
  final case class Said[S](header: Array[Byte], scalars: S)

  object Said {
    def of[S](c: Contribution[S], format: VectorFormat): Said[S] =
      Said(Contribution.header(c, format.headerBytes), c.scalars)
  }

  /** One slice of a worker's vector. The slice with the worker's own number carries `said`. */
  final case class Piece(worker: Int, bytes: Array[Byte], said: Option[Said[_]])

  /** What the workers say, as their answers come in. */
  final class Answers[S: ClassTag](workers: Int) {
    private val headers = new Array[Array[Byte]](workers)
    private val scalars = new Array[S](workers)

    def put(k: Int, content: Any): Unit = {
      val said = content.asInstanceOf[Said[S]]
      headers(k) = said.header
      scalars(k) = said.scalars
    }

    /** Runs the job that computes written packets, and takes what they contain. */
    def take(packets: RDD[Array[Byte]]): Unit =
      Job.run(packets)(written => Packet.read(ByteBuffer.wrap(written.next())).content)(put)

    def replies: Replies[S] = Replies(headers, scalars, 0.0)
  }

  /**
   * In each partition, one slice of all contributions.
   *
   * @param contributions
   *   each with the shared vector that the worker was given
   */
  def pieces[S](
      contributions: RDD[(Contribution[S], Array[Byte])],
      slices: Slices,
      format: VectorFormat): RDD[Gathered] = {
    val workers = contributions.getNumPartitions
    val cut = contributions.mapPartitionsWithIndex { (worker, made) =>
      val (c, shared) = made.next()
      (0 until workers).iterator.map { slice =>
        val said = if (slice == worker) Some(Said.of(c, format)) else None
        slice -> Piece(worker, Packet((), slices.encoded(c, slice, shared)).toArray, said)
      }
    }
    Shuffle.byIndex(cut, workers).mapPartitions(pieces => Iterator.single(new Gathered(pieces.map(_._2))))
  }

  /** The pieces of one slice. */
  final class Gathered(pieces: Iterator[Piece]) {

    /**
     * Adds the pieces. Returns a written [[Packet]] of the sum and the answer of the worker with the slice's number.
     *
     * @param shared
     *   the same slice of the shared vector that the workers were given
     */
    def addUp(slices: Slices, shared: => ByteBuffer): Array[Byte] = {
      val context = TaskContext.get()
      val gathering = new Gathering[Unit](context.numPartitions(), slices.format(context.partitionId()), shared)
      var said = Option.empty[Said[_]]
      pieces.foreach { piece =>
        gathering.add(piece.worker, null, ByteBuffer.wrap(piece.bytes), ())
        said = said.orElse(piece.said)
      }
      Packet(said.get, gathering.sum).write().array
    }
  }
}
