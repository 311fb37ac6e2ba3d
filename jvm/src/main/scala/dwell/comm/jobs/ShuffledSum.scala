package dwell.comm.jobs

import java.nio.ByteBuffer

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD

import dwell.comm.{Answer, Gathering, Job}
import dwell.comm.wire.{Contribution, Packet, Slices, VectorFormat}
import dwell.spark.Shuffle

/** The sum of the workers' vectors by a shuffle: each reducer adds one slice of all of them (reduce-scatter). */
private[jobs] object ShuffledSum {

  /** One slice of a worker's vector. The slice with the worker's own number carries `answer`. */
  final case class SlicePiece(worker: Int, bytes: Array[Byte], answer: Option[Answer[_]])

  /** Runs the job that computes written packets, and takes the answers in them. */
  def take(packets: RDD[Array[Byte]])(put: (Int, Any) => Unit): Unit =
    Job.run(packets)(written => Packet.read(ByteBuffer.wrap(written.next())).content)(put)

  /**
   * In each partition, one slice of all contributions.
   *
   * @param contributions
   *   each with the shared vector that the worker was given
   */
  def pieces[S](
      contributions: RDD[(Contribution[S], Array[Byte])],
      slices: Slices,
      format: VectorFormat): RDD[SlicePieces] = {
    val workers = contributions.getNumPartitions
    val cut = contributions.mapPartitionsWithIndex { (worker, made) =>
      val (c, shared) = made.next()
      (0 until workers).iterator.map { slice =>
        val answer = if (slice == worker) Some(Answer.of(c, format)) else None
        slice -> SlicePiece(worker, Packet((), slices.encoded(c, slice, shared)).toArray, answer)
      }
    }
    Shuffle.byIndex(cut, workers).mapPartitions(pieces => Iterator.single(new SlicePieces(pieces.map(_._2))))
  }

  /** The pieces of one slice. */
  final class SlicePieces(pieces: Iterator[SlicePiece]) {

    /**
     * Adds the pieces. Returns a written [[Packet]] of the sum and the answer of the worker with the slice's number.
     *
     * @param shared
     *   the same slice of the shared vector that the workers were given
     */
    def addUp(slices: Slices, shared: => ByteBuffer): Array[Byte] = {
      val context = TaskContext.get()
      val gathering = new Gathering[Unit](context.numPartitions(), slices.format(context.partitionId()), shared)
      var answer = Option.empty[Answer[_]]
      pieces.foreach { piece =>
        gathering.add(piece.worker, null, ByteBuffer.wrap(piece.bytes), ())
        answer = answer.orElse(piece.answer)
      }
      Packet(answer.get, gathering.sum).write().array
    }
  }
}
