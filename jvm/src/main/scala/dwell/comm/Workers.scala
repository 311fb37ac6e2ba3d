package dwell.comm

import java.nio.ByteBuffer

import dwell.base.SliceBounds
import dwell.comm.wire.Contribution

/**
 * The workers of a fit, one for each partition, and the way in which messages and vectors travel. All ways give the
 * same bits, because all add the vectors in the order of the partitions.
 *
 * @tparam M
 *   message, the same for all workers
 * @tparam S
 *   what a worker answers in addition to its vector
 */
trait Workers[M, S] {

  /**
   * Asks every worker once.
   *
   * @param shared
   *   bytes that go with the message
   * @param description
   *   of this exchange, for Spark's UI
   */
  def exchange(message: M, shared: Array[Byte], description: String): Gathered[S]

  /** Lets workers keep slices of vectors and exchange them among themselves; None if these workers cannot. */
  def together: Option[Workers.Together[M, S]] = None
}

object Workers {

  /**
   * A worker's answer to a message and the bytes that go with it. It must not change the bytes: other tasks read them.
   */
  type Step[D, M, S] = (D, M, Array[Byte]) => Contribution[S]

  /** A step of an algorithm whose workers may keep slices of vectors. */
  trait SharingStep[D, M, S] extends Step[D, M, S] with Serializable {

    /** A worker among its peers. */
    def among(data: D, peers: Peers): Member[M, S]
  }

  /** A worker that keeps slices of vectors. */
  trait Member[M, S] {

    /**
     * The answer to a message. Its vector stays with the worker.
     *
     * @param slices
     *   the worker's slices of the vectors that go with the message, one after the other
     */
    def apply(message: M, slices: ByteBuffer): Contribution[S]
  }

  /** Workers that keep slices of vectors, for their leader. */
  trait Together[M, S] {

    /** The number of workers, and of slices. */
    def members: Int

    /**
     * Asks every worker once.
     *
     * @param bounds
     *   of the slices of `vectors`
     * @param vectors
     *   of which each worker gets its slices
     */
    def apply(message: M, bounds: SliceBounds, vectors: Seq[Array[Byte]]): Replies[S]
  }
}
