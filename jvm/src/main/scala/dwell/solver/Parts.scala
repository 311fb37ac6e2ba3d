package dwell.solver

import org.apache.spark.rdd.RDD

import dwell.data.{ColumnData, LocalData, ScaledRows}
import dwell.data.columns.{ColumnDataset, ColumnPartition}
import dwell.data.rows.{BlockData, BlockDataset}
import dwell.record.HeldBytes

/**
 * The data of each partition of a fit.
 *
 * @param forBarrier
 *   see [[dwell.fit.FitRunner]]
 * @param placement
 *   how they came to their partitions, and why
 */
private[solver] final case class Parts[D](
    all: () => RDD[D],
    forBarrier: () => RDD[D],
    nonzeros: Array[Long],
    placement: String,
    held: HeldBytes)

private[solver] object Parts {

  def of(data: BlockDataset): Parts[BlockData] =
    Parts(() => data.partitions, () => data.forBarrier, data.nonzerosPerPartition, data.placement, data.held)

  def of(data: ColumnDataset): Parts[LocalData] = {
    def local(partitions: RDD[ColumnPartition]) = partitions.map[LocalData](p => ColumnData(p, p.weights))
    val placement = if (data.numPartitions == 1) OneWorker else ByColumns
    Parts(() => local(data.partitions), () => local(data.forBarrier), data.nonzerosPerPartition, placement, data.held)
  }

  def of(data: ScaledRows): Parts[LocalData] =
    Parts(
      () => data.partitions,
      () => data.forBarrier,
      data.summary.nonzerosPerPartition,
      data.blocks.placement,
      data.blocks.held)

  private val OneWorker = "no shuffle, because one worker owns all columns"
  private val ByColumns = "nonzeros dealt by a shuffle, because each worker owns columns"
}
