package dwell.data

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD

import dwell.data.cache.Cached
import dwell.data.matrix.IndexedSums
import dwell.data.rows.{BlockData, BlockDataset, FeatureMoments, RowForm, RowSummary}
import dwell.problem.Labels

/**
 * Rows in blocks for steps along rows, with the scale and the mean of the features.
 *
 * @param blocks
 *   the blocks, which are not owned
 */
final class ScaledRows private (
    val blocks: BlockDataset,
    val summary: RowSummary,
    form: RowForm,
    scale: Broadcast[Array[Double]],
    mean: Broadcast[Array[Double]]) {

  /** The rows of each worker. */
  lazy val partitions: RDD[LocalData] = of(blocks.partitions)

  /** See [[dwell.fit.FitRunner]]. */
  def forBarrier: RDD[LocalData] = of(blocks.forBarrier)

  /** The number of workers that have a nonzero of each feature. A job counts them at the first call. */
  lazy val holders: Array[Int] = {
    val features = summary.features
    IndexedSums.total(blocks.partitions.map(ScaledRows.used(_, features)), features).map(_.toInt)
  }

  private def of(blocks: RDD[BlockData]): RDD[LocalData] = {
    val (features, scale, mean, isClassified) = (summary.features, this.scale, this.mean, form.labels == Labels.Signed)
    blocks.map { data =>
      RowData(data.index, features, data.all, Cached.valueOf(scale), Cached.valueOf(mean), isClassified)
    }
  }

  /** The context must be alive. The blocks stay. */
  private[data] def destroy(): Unit = Seq(scale, mean).filter(_ != null).foreach(_.destroy())
}

private[data] object ScaledRows {

  /**
   * @param scale
   *   of the features for this form, or null if every one is 1
   */
  def of(blocks: BlockDataset, moments: FeatureMoments, scale: Array[Double], form: RowForm): ScaledRows = {
    val summary = RowSummary.of(
      blocks.rowsPerPartition.map(_.toInt),
      blocks.weightPerPartition,
      blocks.nonzerosPerPartition,
      moments,
      scale,
      form)
    new ScaledRows(
      blocks,
      summary,
      form,
      Cached.broadcast(blocks.sc, scale),
      // Stochastic gradients do not centre the rows.
      Cached.broadcast(blocks.sc, if (form.mixed) null else summary.mean))
  }

  /** 1 for each feature that has nonzeros in the blocks of a worker. */
  private def used(data: BlockData, features: Int): IndexedSums = {
    val used = new Array[Double](features)
    data.blocks().foreach(block => block.eachFeature(features)(used(_) = 1.0))
    IndexedSums.of(used)
  }
}
