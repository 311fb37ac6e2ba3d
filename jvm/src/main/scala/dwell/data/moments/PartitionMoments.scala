package dwell.data.moments

/**
 * The moments of the nonzeros of one source partition, for the columns that have any.
 *
 * Each nonzero updates mean and squares at once (West, Updating mean and variance estimates: an improved method, CACM 22, 1979), and
 * the numbers of a column lie side by side: with many columns, what takes time is finding them in memory.
 */
private[data] final class PartitionMoments(numFeatures: Int, binary: Boolean) {
  import PartitionMoments._

  /** For each column, 1 + the number of its cell, or 0. */
  private val cellOf = new Array[Int](numFeatures)
  private var columns = 0
  private var cells = Array.emptyDoubleArray

  /**
   * Adds a nonzero.
   *
   * @param weight
   *   of its row, positive
   * @param isPositive
   *   whether the row has label 1, if the labels are those of two classes
   */
  def add(column: Int, value: Double, weight: Double, isPositive: Boolean): Unit = {
    if (cellOf(column) == 0) open(column)
    val at = Size * (cellOf(column) - 1)
    val total = cells(at + Weight) + weight
    val difference = value - cells(at + Mean)
    val mean = cells(at + Mean) + difference * (weight / total)
    cells(at + Count) += 1.0
    cells(at + Weight) = total
    cells(at + Mean) = mean
    cells(at + Squares) += weight * (difference * (value - mean))
    cells(at + (if (isPositive) Positive else Negative)) += weight * value
  }

  private def open(column: Int): Unit = {
    if (Size * columns == cells.length) {
      val more = math.min(numFeatures, math.max(FirstCells, 2 * columns))
      cells = java.util.Arrays.copyOf(cells, Size * more)
    }
    columns += 1
    cellOf(column) = columns
  }

  /** The moments of all nonzeros. */
  def result: MomentPiece = {
    val used = new Array[Int](columns)
    var (next, column) = (0, 0)
    while (next < columns) {
      if (cellOf(column) > 0) {
        used(next) = column
        next += 1
      }
      column += 1
    }
    def numbers(place: Int): Array[Double] = used.map(column => cells(Size * (cellOf(column) - 1) + place))
    new MomentPiece(
      used,
      numbers(Count).map(_.toLong),
      numbers(Weight),
      numbers(Mean),
      numbers(Squares),
      if (binary) numbers(Positive) else null,
      if (binary) numbers(Negative) else null)
  }
}

private object PartitionMoments {

  /** The numbers of a column, and their places. */
  private val Size = 6
  private val Count = 0
  private val Weight = 1
  private val Mean = 2
  private val Squares = 3
  private val Positive = 4
  private val Negative = 5

  private val FirstCells = 1024
}
