package dwell.data.block

import java.lang.Long.{bitCount, numberOfTrailingZeros}

/**
 * The features that are not 0 in every row. Where most features never occur, as in a space of hashes, solvers work on those that do,
 * which have numbers of their own, ascending.
 *
 * @param all
 *   the length of the vectors in the source
 * @param marks
 *   bit j of word i stands for feature 64 i + j
 */
final class OccurringFeatures private (val all: Int, marks: Array[Long]) extends Serializable {

  /** How many features occur before each word. */
  private val before = marks.scanLeft(0)(_ + bitCount(_))

  /** The number of features that occur. */
  def count: Int = before.last

  /** The number of a feature among those that occur. */
  def position(feature: Int): Int = {
    val word = feature >> 6
    before(word) + bitCount(marks(word) & ((1L << (feature & 63)) - 1L))
  }

  /** The features that occur. */
  lazy val features: Array[Int] = {
    val found = new Array[Int](count)
    for (word <- marks.indices) {
      var left = marks(word)
      while (left != 0L) {
        val bit = numberOfTrailingZeros(left)
        found(position((word << 6) + bit)) = (word << 6) + bit
        left &= left - 1L
      }
    }
    found
  }

  /** The numbers of the features that occur, of one or several numbers for each feature. */
  def narrowed(vector: Array[Double]): Array[Double] = {
    val each = vector.length / all
    Array.tabulate(count * each)(i => vector(features(i / each) * each + i % each))
  }

  /** The reverse of [[narrowed]], with 0 for features that do not occur. */
  def spread(vector: Array[Double]): Array[Double] = {
    val each = vector.length / count
    val wide = new Array[Double](all * each)
    for (i <- vector.indices) wide(features(i / each) * each + i % each) = vector(i)
    wide
  }
}

private[data] object OccurringFeatures {

  /**
   * The features that occur, if there are any, and fewer than half of them, where vectors are long.
   *
   * @param features
   *   the features that occur, ascending
   */
  def of(numFeatures: Int, features: Array[Int]): Option[OccurringFeatures] =
    if (numFeatures >= Many && features.nonEmpty && features.length < numFeatures / 2) Some {
      val marks = new Array[Long]((numFeatures >> 6) + 1)
      features.foreach(feature => marks(feature >> 6) |= 1L << (feature & 63))
      new OccurringFeatures(numFeatures, marks)
    }
    else None

  /** With so many features, what leaders and exchanges do for those that do not occur takes longer than to leave them out. */
  private val Many = 1 << 14
}
