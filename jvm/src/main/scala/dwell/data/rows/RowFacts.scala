package dwell.data.rows

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}
import dwell.data.block.RowBlock
import dwell.data.matrix.ExcludedFeatures
import dwell.data.merge.{RowDistribution, VectorSizes}

/**
 * What a partition knows of the rows that it gets of one block, before it gets their features.
 *
 * @param labels
 *   label of each row
 * @param weights
 *   weight of each row, or null if every weight in the block is 1
 */
private[data] final class RowFacts(val sizes: VectorSizes, val labels: Array[Double], val weights: Array[Double])

private[data] object RowFacts extends BulkFormat[RowFacts] {

  /**
   * The facts for each partition that gets rows of the block, with the number of the partition.
   *
   * @param firstRow
   *   number of the block's first row in the whole dataset
   * @param excluded
   *   features whose nonzeros are left out
   */
  def of(block: RowBlock, firstRow: Long, excluded: ExcludedFeatures, numPartitions: Int): Iterator[(Int, RowFacts)] =
    VectorSizes.of(block.matrix, firstRow, excluded, numPartitions).iterator.zipWithIndex.collect {
      case (sizes, k) if sizes.counts.length > 0 =>
        val labels = new Array[Double](sizes.counts.length)
        val weights = if (block.weights == null) null else new Array[Double](sizes.counts.length)
        var i = 0
        RowDistribution.eachRow(k, numPartitions, firstRow, firstRow + block.matrix.rows) { (row, _) =>
          val j = (row - firstRow).toInt
          labels(i) = block.labels(j)
          if (weights != null) weights(i) = block.weights(j)
          i += 1
        }
        (k, new RowFacts(sizes, labels, weights))
    }

  /** The facts of all rows of a block. They share its labels and weights. */
  def whole(block: RowBlock, firstRow: Long, excluded: ExcludedFeatures): RowFacts =
    new RowFacts(VectorSizes.whole(block.matrix, firstRow, excluded), block.labels, block.weights)

  override def write(facts: RowFacts, out: BulkOutput): Unit = {
    VectorSizes.write(facts.sizes, out)
    out.array(facts.labels)
    out.array(facts.weights)
  }

  override def read(in: BulkInput): RowFacts = new RowFacts(VectorSizes.read(in), in.doubleArray(), in.doubleArray())
}
