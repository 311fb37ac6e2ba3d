package dwell.solver

import org.apache.spark.rdd.RDD

import dwell.data.{ColumnData, LocalData, RowData}
import dwell.data.columns.{ColumnDataset, ColumnPartition}
import dwell.data.rows.{BlockData, BlockDataset, RowDataset, RowPartition}
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

  def of(data: RowDataset): Parts[LocalData] = {
    val scale = data.scaleBroadcast
    ofRows(data)(_.map[LocalData](p => RowData(p, if (scale == null) null else scale.value)))
  }

  /** Rows that were dealt to workers, for passes. */
  def asBlocks(data: RowDataset): Parts[BlockData] = ofRows(data)(_.map(BlockData.of(_)))

  private def ofRows[D](data: RowDataset)(local: RDD[RowPartition] => RDD[D]): Parts[D] =
    Parts(
      () => local(data.partitions),
      () => local(data.forBarrier),
      data.nonzerosPerPartition,
      data.placement,
      data.held)

  private val OneWorker = "no shuffle, because one worker owns all columns"
  private val ByColumns = "nonzeros dealt by a shuffle, because each worker owns columns"
}
