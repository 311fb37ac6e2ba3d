package dwell.solver.cd.worker

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import dwell.comm.wire.Contribution

/** The slices of rows that the tasks of this process own, by fit and partition. They are freed with their fit. */
private[dwell] object MarginSlices {

  /**
   * A slice, the number of the last request that it has answered, and the answer; None to the request that made it.
   */
  private final class Owned(val slice: MarginSlice, var number: Long) {
    var answer: Option[Contribution[CdReply]] = None
    @volatile var lastUsed: Long = System.nanoTime()
  }

  private val slices = new ConcurrentHashMap[(Long, Int), Owned]()

  /** Keeps a slice that request `number` has made. It replaces any other of the same fit and partition. */
  private[dwell] def put(fit: Long, partition: Int, number: Long, slice: MarginSlice): Unit = {
    slices.put((fit, partition), new Owned(slice, number))
    ()
  }

  /**
   * Answers a request, once: Spark may run the same task twice, even at the same time, and many operations change the
   * slice.
   *
   * @return
   *   None if this process does not have the slice as the request before this one left it
   */
  private[dwell] def run(fit: Long, partition: Int, number: Long)(
      operation: MarginSlice => Contribution[CdReply]): Option[Contribution[CdReply]] =
    Option(slices.get((fit, partition))).flatMap { owned =>
      owned.lastUsed = System.nanoTime()
      owned.synchronized {
        if (owned.number == number - 1) {
          // If the operation fails half-way, the slice counts as lost.
          owned.number = Broken
          owned.answer = Some(operation(owned.slice))
          owned.number = number
        }
        if (owned.number == number) owned.answer else None
      }
    }

  /** Frees the slices of a fit. */
  def free(fit: Long): Unit = {
    slices.keySet.removeIf(_._1 == fit)
    ()
  }

  /** Frees the slices that no call has used for more than `maxAgeMillis`. */
  private[dwell] def expire(maxAgeMillis: Long): Unit = {
    val now = System.nanoTime()
    slices.values.removeIf(owned => now - owned.lastUsed > maxAgeMillis * 1000000L)
    ()
  }

  /** The number of a slice that is half changed; no request has it, nor the one after. */
  private val Broken = Long.MinValue

  /** The number of slices. */
  def entries: Int = slices.size

  /** The size of all slices in bytes. */
  def bytes: Long = slices.values.asScala.map(_.slice.bytes).sum
}
