package dwell.data.rows

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.block.ReadRows
import dwell.data.cache.{Cached, CachedDataset}
import dwell.data.matrix.{IndexedSums, PartitionForm}
import dwell.problem.Labels
import dwell.record.HeldBytes
import dwell.spark.Answers

/**
 * Training data as rows, split into partitions of about equally much work. Constant features are not solved for, and have no
 * nonzeros in the partitions.
 *
 * @param partitions
 *   one [[RowPartition]] in each Spark partition
 * @param scaleBroadcast
 *   the scale of the features for the workers, or null
 * @param placement
 *   how the rows came to their partitions, and why
 */
final class RowDataset private (
    partitions: Kept[RowPartition],
    numFeatures: Int,
    val summary: RowSummary,
    val scaleBroadcast: Broadcast[Array[Double]],
    val placement: String,
    isShuffled: Boolean,
    held: HeldBytes,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[RowPartition](partitions, isShuffled, summary.nonzerosPerPartition, held, broadcasts) {

  /** The number of partitions that have a nonzero of each feature. A job counts them at the first call. */
  lazy val holders: Array[Int] =
    IndexedSums.total(partitions.map(RowDataset.used), numFeatures).map(_.toInt)
}

private[data] object RowDataset {

  /**
   * Puts the rows together to partitions of the given form.
   *
   * @param reason
   *   how the rows come to their partitions, and why
   * @throws IllegalArgumentException
   *   if the squared norm of a row or the inverse of a variance overflows
   */
  def of(
      rows: ReadRows,
      placement: RowPlacement,
      reason: String,
      moments: FeatureMoments,
      form: RowForm): RowDataset = {
    val sc = rows.sc
    val scale = moments.scale(form.scaleFactor, rows.names)
    val mean = if (form.intercept) moments.mean else null
    val scaleBroadcast = Cached.broadcast(sc, scale)
    val meanBroadcast = Cached.broadcast(sc, mean)
    val numFeatures = rows.numFeatures
    val choice = PartitionForm.Choice.ForSolvers
    val merge = new RowMerge(numFeatures, rows.labels.weighted, form.labels, form.mixed, choice)
    val merged = placement.partitions(merge, scaleBroadcast, meanBroadcast)
    val partitions = Kept.of(merged, s"${rows.title}: rows").keep(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(scaleBroadcast, meanBroadcast).filter(_ != null) ++ placement.broadcasts
    Cached.orRelease(partitions, broadcasts) {
      val summaries = Answers.of(partitions)(it => summary(it.next()))
      placement.broadcasts.foreach(_.unpersist()) // until a partition is lost
      summaries.flatMap(_.unbounded).foreach { row =>
        throw new IllegalArgumentException(
          s"Column '${rows.names.features}', row $row of those of positive weight (counted from 0): the values are " +
            "so large that the squared norm of the row is not a finite number. Scale the features down, for example " +
            "with StandardScaler.")
      }
      new RowDataset(
        partitions,
        numFeatures,
        RowSummary(
          summaries.map(_.rows),
          summaries.map(_.weight),
          summaries.map(_.nonzeros),
          scale,
          mean,
          if (mean == null) 0.0 else scaledSum(scale, j => mean(j) * mean(j), numFeatures),
          // The sum over the rows in closed form: the features' second moments, about the mean if there is an
          // intercept.
          scaledSum(
            scale,
            j => moments.variance(j) + (if (form.intercept) 0.0 else moments.mean(j) * moments.mean(j)),
            numFeatures),
          if (form.labels == Labels.Signed) moments.classSums else null),
        scaleBroadcast,
        reason,
        placement.isShuffle,
        rows.heldWith(summaries.map(_.bytes).sum),
        broadcasts)
    }
  }

  private def scaledSum(scale: Array[Double], term: Int => Double, numFeatures: Int): Double = {
    var sum = 0.0
    var j = 0
    while (j < numFeatures) {
      sum += (if (scale == null) term(j) else scale(j) * term(j))
      j += 1
    }
    sum
  }

  /** A partition's report to the driver; `unbounded` is its first row whose norm is not finite. */
  private final case class Summary(nonzeros: Long, rows: Int, weight: Double, bytes: Long, unbounded: Option[Long])

  private def summary(p: RowPartition): Summary =
    Summary(
      p.nonzeros.toLong,
      p.numRows,
      if (p.weights == null) p.numRows.toDouble else p.weights.sum,
      p.bytes,
      p.norms.indices.filter(i => p.norms(i).isNaN || p.norms(i).isInfinite).map(p.rows(_)).minOption)

  /** 1 for each feature that has nonzeros in a partition. */
  private def used(p: RowPartition): IndexedSums = {
    val used = new Array[Double](p.features)
    var at = 0
    while (at < p.nonzeros) {
      if (!p.isDense) used(p.indices(at)) = 1.0 else if (p.value(at) != 0.0) used(at % p.features) = 1.0
      at += 1
    }
    IndexedSums.of(used)
  }
}
