package dwell.comm

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
}

object Workers {

  /**
   * A worker's answer to a message and the bytes that go with it. It must not change the bytes: other tasks read them.
   */
  type Step[D, M, S] = (D, M, Array[Byte]) => Contribution[S]
}
