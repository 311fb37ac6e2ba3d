package dwell.solver

import java.nio.{ByteBuffer, ByteOrder, DoubleBuffer}

/**
 * Layout of what a partition returns: a header of 16 slots, then one double per row, all little endian. It is one
 * byte array because Spark moves byte arrays without looking at their elements.
 */
object ResultLayout {

  /** Slots of 8 bytes in the header. */
  val HeaderSlots: Int = 16

  /** Bytes before the vector. */
  val HeaderBytes: Int = 8 * HeaderSlots

  /** Rows for which the result still fits into one Java array (some JVMs need a few bytes for the array itself). */
  val MaxRows: Int = (Int.MaxValue - 15 - HeaderBytes) / 8

  /** Penalty at the coefficients the call started from (product: at the coefficients). */
  val PenaltyBefore: Int = 0

  /** Penalty after the proposed step. */
  val PenaltyAfter: Int = 1

  /** Sum of the conjugates of the penalty at the scaled correlations; NaN without certificate. */
  val Conjugate: Int = 2

  /** Largest |correlation| / L1 penalty of a column; NaN without certificate. */
  val Ratio: Int = 3

  /** Largest |correlation| relative to a column's norm; NaN without certificate. */
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

  /** Sum of mean times step (product: mean times coefficient); 0 if not centred. */
  val Kappa: Int = 10

  /** First slot that the solver leaves to its caller. */
  val FirstFreeSlot: Int = 11

  /** Length of a result for `rows` rows, in bytes. */
  def length(rows: Int): Int = {
    require(rows >= 0 && rows <= MaxRows, s"A result holds 0 to $MaxRows rows, not $rows")
    HeaderBytes + 8 * rows
  }

  def allocate(rows: Int): Array[Byte] = new Array[Byte](length(rows))

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
