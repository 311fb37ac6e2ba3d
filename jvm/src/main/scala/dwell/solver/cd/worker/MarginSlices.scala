package dwell.solver.cd.worker

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import dwell.solver.cd.contract.MarginSlice

/** The slices of rows that the tasks of this process own, by fit and partition. They are freed with their fit. */
private[dwell] object MarginSlices {

  private final class Owned(val slice: MarginSlice, @volatile var lastUsed: Long)

  private val slices = new ConcurrentHashMap[(Long, Int), Owned]()

  /** Keeps a slice, in the place of any other of the same fit and partition. */
  private[worker] def put(fit: Long, partition: Int, slice: MarginSlice): Unit = {
    slices.put((fit, partition), new Owned(slice, System.nanoTime()))
    ()
  }

  /** @throws IllegalStateException if this process has no such slice */
  private[worker] def get(fit: Long, partition: Int): MarginSlice = {
    val owned = slices.get((fit, partition))
    if (owned == null) throw new IllegalStateException(s"fit $fit has no margins in partition $partition")
    owned.lastUsed = System.nanoTime()
    owned.slice
  }

  /** Frees the slices of a fit. */
  def free(fit: Long): Unit = {
    slices.keySet.removeIf(_._1 == fit)
    ()
  }

  /** Frees the slices that no call has used for more than `maxAgeMillis`. */
  private[worker] def expire(maxAgeMillis: Long): Unit = {
    val now = System.nanoTime()
    slices.values.removeIf(owned => now - owned.lastUsed > maxAgeMillis * 1000000L)
    ()
  }

  /** The number of slices. */
  def entries: Int = slices.size

  /** The size of all slices in bytes. */
  def bytes: Long = slices.values.asScala.map(_.slice.bytes).sum
}
