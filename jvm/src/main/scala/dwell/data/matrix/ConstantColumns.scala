package dwell.data.matrix

import org.apache.spark.rdd.RDD

import dwell.spark.{Answers, Shuffle, TaskFailure}

/** The columns that have one value throughout, ascending, and that value. */
private[data] final case class ConstantColumns(indices: Array[Int], values: Array[Double]) {

  /** The columns at positions `from` until `until`. */
  private def slice(from: Int, until: Int): ConstantColumns =
    ConstantColumns(
      java.util.Arrays.copyOfRange(indices, from, until),
      java.util.Arrays.copyOfRange(values, from, until))

  /** The columns that both have, with the same value. */
  def intersect(that: ConstantColumns): ConstantColumns =
    intersect(that.indices, that.values.apply, 0, that.indices.length)

  /** The columns that also occur at positions `from` until `until` of `otherIndices`, with the same value. */
  def intersect(otherIndices: Array[Int], otherValue: Int => Double, from: Int, until: Int): ConstantColumns = {
    val keptIndices = Array.newBuilder[Int]
    val keptValues = Array.newBuilder[Double]
    var i = 0
    var at = from
    while (i < indices.length && at < until) {
      if (indices(i) < otherIndices(at)) {
        i += 1
      } else if (indices(i) > otherIndices(at)) {
        at += 1
      } else {
        if (values(i) == otherValue(at)) {
          keptIndices += indices(i)
          keptValues += values(i)
        }
        i += 1
        at += 1
      }
    }
    ConstantColumns(keptIndices.result(), keptValues.result())
  }
}

private[data] object ConstantColumns {
  val Empty: ConstantColumns = ConstantColumns(Array.emptyIntArray, Array.emptyDoubleArray)

  /**
   * The columns that are constant over all blocks. Tasks compare the blocks by [[IndexRanges]].
   *
   * @param blocks
   *   the constant columns of each block that has rows; there is at least one
   * @param numFeatures
   *   number of columns
   */
  def common(blocks: RDD[ConstantColumns], numFeatures: Int): Array[Int] = {
    val ranges = new IndexRanges(numFeatures, blocks.getNumPartitions)
    val pieces = blocks.flatMap { block =>
      val found = ranges.cut(block.indices)(block.slice).toMap
      // A range without a constant column counts as well.
      Iterator.range(0, ranges.count).map(k => (k, found.getOrElse(k, Empty)))
    }
    val merged = Shuffle.byIndex(pieces, ranges.count)
    Shuffle.once(merged) {
      TaskFailure.unwrapped {
        Answers.of(merged)(_.map(_._2).reduce(_ intersect _).indices).flatten
      }
    }
  }
}
