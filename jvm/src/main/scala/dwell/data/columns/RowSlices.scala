package dwell.data.columns

import dwell.jni.MarginLayout

/**
 * Consecutive rows for each partition of columns: slice k has the rows `start(k)` until `start(k + 1)`. Slices differ by
 * at most one block of [[RowSlices.BlockRows]] rows, and the last one by the rows that its last block lacks. With more
 * slices than blocks some are empty.
 *
 * @param numRows
 *   number of rows of the whole dataset, m
 * @param count
 *   number of slices, K
 */
final class RowSlices(val numRows: Int, val count: Int) extends Serializable {
  import RowSlices._

  private val blocks = (numRows.toLong + BlockRows - 1) / BlockRows

  /** The first row of slice `k`; `numRows` for `count`. */
  def start(k: Int): Int = math.min(blocks * k / count * BlockRows, numRows.toLong).toInt

  /** The number of rows in slice `k`. */
  def size(k: Int): Int = start(k + 1) - start(k)
}

/** The size of the blocks that slices consist of. */
object RowSlices {

  /**
   * Rows of a block. A sum over the rows of a slice is taken in blocks of this many, whose sums are added in order:
   * threads change no bit of it. Slices consist of whole blocks.
   */
  val BlockRows: Int = MarginLayout.BLOCK
}
