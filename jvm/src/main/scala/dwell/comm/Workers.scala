package dwell.comm

import dwell.comm.wire.Contribution

/**
 * The workers of a fit, one a partition, and the way in which messages to them and their vectors travel. All ways give the
 * same bits: vectors are added in the order of the partitions.
 *
 * @tparam M
 *   message, the same for all workers
 * @tparam S
 *   what a worker answers beside its vector
 */
trait Workers[M, S] {

  /**
   * Asks every worker once.
   *
   * @param shared
   *   bytes that go with the message
   * @param description
   *   of this exchange, for whoever watches
   */
  def exchange(message: M, shared: Array[Byte], description: String): Gathered[S]
}

object Workers {

  /** What a worker does with a message and the bytes that go with it, which it must not change: others may read them as well. */
  type Step[D, M, S] = (D, M, Array[Byte]) => Contribution[S]
}
