package dwell.base

import java.nio.{ByteBuffer, ByteOrder, DoubleBuffer}
import java.time.Instant

/**
 * Layout of what a partition returns: a header of 64 slots, then the vector, all little endian doubles. The vector has
 * one entry per row in the primal orientation and one per feature in the dual one. It is all one byte array because
 * Spark moves byte arrays without looking at their elements.
 *
 * Slots that a call has nothing to say in are 0, those of the certificate NaN where there is none.
 */
object ResultLayout {

  /** Slots of 8 bytes in the header. */
  val HeaderSlots: Int = 64

  /** Bytes before the vector. */
  val HeaderBytes: Int = 8 * HeaderSlots

  /** Entries of the longest vector that fits into one Java array (some JVMs need a few bytes for the array itself). */
  val MaxRows: Int = (Int.MaxValue - 15 - HeaderBytes) / 8

  /**
   * Separable part of the objective at the coordinates the call started from (product: at the coordinates): the penalty
   * in the primal orientation, the sum of (s_i / S) l*(-a_i; y_i) in the dual one.
   */
  val ValueBefore: Int = 0

  /** Separable part after the proposed step. */
  val ValueAfter: Int = 1

  /** Sum of the conjugates of the penalty at the scaled correlations; NaN in the dual and without certificate. */
  val Conjugate: Int = 2

  /** Largest |correlation| / L1 penalty of a column; NaN in the dual and without certificate. */
  val Ratio: Int = 3

  /** Largest |correlation| relative to a column's norm; NaN in the dual and without certificate. */
  val Correlation: Int = 4

  /** Coordinates visited. */
  val Coordinates: Int = 5

  /** Nonzeros visited. */
  val Nonzeros: Int = 6

  /** Nanoseconds inside the solver. */
  val SolverNanos: Int = 7

  /** Bytes of this partition's state. */
  val StateBytes: Int = 8

  /** Stamp of the state after the call. */
  val Stamp: Int = 9

  /**
   * Primal: sum of mean times step (product: mean times coefficient); 0 if not centred. Dual: sum of t_i times step
   * (product: t_i times dual variable), t_i = s_i / (S l2).
   */
  val Kappa: Int = 10

  // How the separable part changes along e = g1 delta + g2 previous, where previous is what the last commit added: by
  // Slope1 g1 + Slope2 g2 + (Curve11 g1^2 + 2 Curve12 g1 g2 + Curve22 g2^2) / 2 for its quadratic terms, and by what the
  // samples say for the others.

  /** Derivative of the quadratic terms along the proposed step. */
  val Slope1: Int = 11

  /** Derivative of the quadratic terms along the previous step. */
  val Slope2: Int = 12

  /** Second derivative of the quadratic terms along the proposed step. */
  val Curve11: Int = 13

  /** Mixed derivative of the quadratic terms along both steps. */
  val Curve12: Int = 14

  /** Second derivative of the quadratic terms along the previous step. */
  val Curve22: Int = 15

  /** First sample: how the terms that are not quadratic change to the request's point 0; infinite if not feasible. */
  val Samples: Int = 16

  /** Points a request may have. */
  val MaxPoints: Int = 24

  /** First loss of the dual certificate: the partition's share of the primal loss at the intercept of candidate 0. */
  val Losses: Int = Samples + MaxPoints

  /** Candidates that a dual certificate may have. */
  val MaxCandidates: Int = 16

  /** First slot that the solver leaves to its caller. */
  val FirstFreeSlot: Int = Losses + MaxCandidates

  /** When the solver was called, as [[now]] says; not the solver's own slot. */
  val Started: Int = FirstFreeSlot

  /** Seconds since 1970, by this machine's clock, to a microsecond. */
  def now(): Double = {
    val now = Instant.now()
    now.getEpochSecond + now.getNano * 1e-9
  }

  /** Length of a result with a vector of `entries` entries, in bytes. */
  def length(entries: Int): Int = {
    require(entries >= 0 && entries <= MaxRows, s"A result holds 0 to $MaxRows entries, not $entries")
    HeaderBytes + 8 * entries
  }

  def allocate(entries: Int): Array[Byte] = new Array[Byte](length(entries))

  def get(result: Array[Byte], slot: Int): Double = wrap(result).getDouble(8 * slot)

  def put(result: Array[Byte], slot: Int, value: Double): Unit = wrap(result).putDouble(8 * slot, value)

  /** The vector behind the header, as a view. */
  def vector(result: Array[Byte]): DoubleBuffer =
    ByteBuffer
      .wrap(result, HeaderBytes, result.length - HeaderBytes)
      .slice()
      .order(ByteOrder.LITTLE_ENDIAN)
      .asDoubleBuffer()

  /** Doubles in a shared vector, as a view. */
  def doubles(shared: Array[Byte]): DoubleBuffer = wrap(shared).asDoubleBuffer()

  private def wrap(bytes: Array[Byte]): ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
}
