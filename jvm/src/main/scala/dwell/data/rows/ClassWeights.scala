package dwell.data.rows

import org.apache.spark.rdd.RDD

import dwell.data.block.RowBlock
import dwell.data.matrix.IndexedSums

/** The sums of the weights of each class. */
private[data] object ClassWeights {

  /** Counts the rows of each class, 0 until `count`, in a job. */
  def of(blocks: RDD[RowBlock], count: Int): Array[Double] =
    IndexedSums.total(blocks.mapPartitions(blocks => Iterator.single(sum(blocks, count))), count)

  private def sum(blocks: Iterator[RowBlock], count: Int): IndexedSums = {
    val sums = new Array[Double](count)
    blocks.foreach { block =>
      var i = 0
      while (i < block.labels.length) {
        sums(block.labels(i).toInt) += (if (block.weights == null) 1.0 else block.weights(i))
        i += 1
      }
    }
    IndexedSums.of(sums)
  }
}
