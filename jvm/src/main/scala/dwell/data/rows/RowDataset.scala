package dwell.data.rows

import java.util.BitSet

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.storage.StorageLevel

import dwell.base.Answers
import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{Cached, CachedDataset, ColumnNames, ReadRows}
import dwell.data.matrix.PartitionForm

/**
 * Training data as rows, split into partitions of equally many rows. Constant features are not solved for, and have no
 * nonzeros in the partitions.
 *
 * @param partitions
 *   one [[RowPartition]] in each Spark partition
 * @param scaleBroadcast
 *   the scale of the features for the workers, or null
 */
final class RowDataset private (
    partitions: Kept[RowPartition],
    val summary: RowSummary,
    val scaleBroadcast: Broadcast[Array[Double]],
    bytes: Long,
    broadcasts: Seq[Broadcast[_]])
    extends CachedDataset[RowPartition](partitions, summary.nonzerosPerPartition, bytes, broadcasts)

private[data] object RowDataset {

  /**
   * Puts the rows together to partitions of the given form.
   *
   * @throws IllegalArgumentException
   *   if the squared norm of a row or the inverse of a variance overflows
   */
  def of(rows: ReadRows, shuffle: RowShuffle, moments: FeatureMoments, form: RowForm): RowDataset = {
    val sc = rows.sc
    val scale = scales(moments.variance, form.scaleFactor, rows.names)
    val mean = if (form.intercept) moments.mean else null
    val scaleBroadcast = Cached.broadcast(sc, scale)
    val meanBroadcast = Cached.broadcast(sc, mean)
    val numPartitions = shuffle.numPartitions
    val numRows = rows.numRows.toLong
    val numFeatures = rows.numFeatures
    val weighted = rows.weights != null
    val merged = BulkShuffle.together(shuffle.facts, shuffle.features) { (k, facts, features) =>
      val choice = PartitionForm.Choice.ForSolvers
      val merge =
        new RowMerge(k, numPartitions, numRows, numFeatures, weighted, form.signedLabels, form.mixed, choice)
      merge(facts, features, Cached.valueOf(scaleBroadcast), Cached.valueOf(meanBroadcast))
    }
    val partitions = Kept.of(merged, s"${rows.title}: rows").keep(StorageLevel.MEMORY_AND_DISK)
    val broadcasts = Seq(scaleBroadcast, meanBroadcast).filter(_ != null)
    Cached.orRelease(partitions, broadcasts) {
      val summaries = Answers.of(partitions)(it => summary(it.next()))
      summaries.flatMap(_.unbounded).foreach { row =>
        throw new IllegalArgumentException(
          s"Column '${rows.names.features}', row $row of those of positive weight (counted from 0): the values are " +
            "so large that the squared norm of the row is not a finite number. Scale the features down, for example " +
            "with StandardScaler.")
      }
      new RowDataset(
        partitions,
        RowSummary(
          summaries.map(_.rows),
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
          if (form.signedLabels) moments.classSums else null,
          holders(summaries.map(_.held), numFeatures)),
        scaleBroadcast,
        summaries.map(_.bytes).sum,
        broadcasts)
    }
  }

  private def scales(variance: Array[Double], scaleFactor: Double, names: ColumnNames): Array[Double] =
    if (scaleFactor == 0.0) null
    else {
      Array.tabulate(variance.length) { j =>
        val scale = if (variance(j) > 0.0) 1.0 / (scaleFactor * variance(j)) else 0.0
        if (scale.isInfinite) {
          throw new IllegalArgumentException(
            s"Column '${names.features}', index $j: the values are so close to one another that the inverse of their " +
              "variance is not a finite number. Scale the feature up, for example with StandardScaler.")
        }
        scale
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
  private final case class Summary(nonzeros: Long, rows: Int, bytes: Long, unbounded: Option[Int], held: BitSet)

  private def summary(p: RowPartition): Summary =
    Summary(
      p.nonzeros.toLong,
      p.numRows,
      p.bytes,
      p.norms.indices.filter(i => p.norms(i).isNaN || p.norms(i).isInfinite).map(p.rows(_)).minOption,
      held(p))

  /** The features that have nonzeros in a partition. */
  private def held(p: RowPartition): BitSet = {
    val features = new BitSet(p.features)
    var at = 0
    while (at < p.nonzeros) {
      if (!p.isDense) features.set(p.indices(at)) else if (p.value(at) != 0.0) features.set(at % p.features)
      at += 1
    }
    features
  }

  private def holders(held: Array[BitSet], numFeatures: Int): Array[Int] = {
    val counts = new Array[Int](numFeatures)
    held.foreach { features =>
      var j = features.nextSetBit(0)
      while (j >= 0) {
        counts(j) += 1
        j = features.nextSetBit(j + 1)
      }
    }
    counts
  }
}
