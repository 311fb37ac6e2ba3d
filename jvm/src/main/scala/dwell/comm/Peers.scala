package dwell.comm

import dwell.base.SliceBounds
import dwell.comm.wire.Contribution

/**
 * All workers of a fit, as one of them sees them, while each keeps a slice of vectors that no worker has to hold as a whole.
 *
 * All workers make the same calls in the same order.
 */
trait Peers {

  /** The number of this worker, and of its slice. */
  def rank: Int

  /** The number of workers. */
  def size: Int

  /**
   * Puts the slices of all workers together (all-gather).
   *
   * @param note
   *   numbers that go with the slice
   * @return
   *   the whole vector, and all notes in the order of the slices
   */
  def gather(bounds: SliceBounds, slice: Array[Byte], note: Array[Double]): (Array[Byte], Seq[Array[Double]])

  /**
   * Adds up this worker's slice of the vectors of all workers, in the order of the partitions (reduce-scatter).
   *
   * @param note
   *   goes to every worker
   * @return
   *   the slice of the sum, and all notes in the order of the partitions
   */
  def reduce(bounds: SliceBounds, c: Contribution[_], note: Array[Double]): (Array[Byte], Seq[Array[Double]])
}
