package dwell.data.matrix

import org.apache.spark.rdd.RDD

import dwell.base.LittleEndian
import dwell.spark.{Shuffle, TaskFailure}

/**
 * Sums over one partition, one for each of some columns or classes. Sparse, because a partition of hashed text
 * uses only a few of all columns.
 *
 * @param indices
 *   columns or classes, ascending
 * @param sums
 *   the sum for each of them
 */
private[data] final class IndexedSums(val indices: Array[Int], val sums: Array[Double]) extends Serializable {

  /** The sums at positions `from` until `until`. */
  def slice(from: Int, until: Int): IndexedSums =
    new IndexedSums(java.util.Arrays.copyOfRange(indices, from, until), java.util.Arrays.copyOfRange(sums, from, until))

  /** Adds the sums to `total`, whose first entry belongs to the index `first`. */
  private def addTo(total: Array[Double], first: Int): Unit = {
    var i = 0
    while (i < indices.length) {
      total(indices(i) - first) += sums(i)
      i += 1
    }
  }
}

private[data] object IndexedSums {

  /** The sums of what is not 0 in `dense`. */
  def of(dense: Array[Double]): IndexedSums = {
    val indices = new Array[Int](dense.count(_ != 0.0))
    val sums = new Array[Double](indices.length)
    var next = 0
    var i = 0
    while (next < indices.length) {
      if (dense(i) != 0.0) {
        indices(next) = i
        sums(next) = dense(i)
        next += 1
      }
      i += 1
    }
    new IndexedSums(indices, sums)
  }

  /**
   * Adds the sums of all partitions, one from each, in their order, and returns the sums of all indices, 0 until `length`.
   * Tasks add them by [[IndexRanges]].
   */
  def total(partitions: RDD[IndexedSums], length: Int): Array[Double] = {
    val ranges = new IndexRanges(length, partitions.getNumPartitions)
    val pieces = partitions.flatMap(own => ranges.cut(own.indices)(own.slice))
    val sums = Shuffle.inOrder(pieces, ranges.count).mapPartitionsWithIndex { (k, pieces) =>
      val sum = new Array[Double](ranges.size(k))
      pieces.foreach(_.addTo(sum, ranges.first(k)))
      Iterator.single(LittleEndian.bytes(sum))
    }
    val total = new Array[Double](length)
    Shuffle.once(sums) {
      TaskFailure.unwrapped {
        partitions.sparkContext.runJob(
          sums,
          (it: Iterator[Array[Byte]]) => it.next(),
          (k: Int, sum: Array[Byte]) => LittleEndian.copy(sum, total, ranges.first(k)))
      }
    }
    total
  }
}
