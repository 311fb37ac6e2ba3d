package dwell.data.folds

import org.apache.spark.ml.tuning.FoldBridge
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.block.TrainingRow

/** How the rows of a search are dealt to folds. */
sealed trait Folds extends Serializable {

  /** The number of folds, k. */
  def count: Int

  /** Whether the fold of a row depends on its position in its source partition. */
  def areByPosition: Boolean

  /** The fold of each row of a source partition, asked for in their order; what is not in [0, k) is in none. */
  private[data] def of(partition: Int): InternalRow => Int
}

object Folds {

  /**
   * Spark's random folds: one random number a row, in the order of a partition (`MLUtils.kFold`, `Dataset.randomSplit`).
   *
   * @param ends
   *   where each fold ends in [0, 1], ascending
   * @param seeds
   *   seed of each source partition
   */
  final case class Random(ends: Seq[Double], seeds: Array[Long]) extends Folds {
    override def count: Int = ends.length
    override def areByPosition: Boolean = true

    private[data] override def of(partition: Int): InternalRow => Int = {
      val next = FoldBridge.uniform(seeds(partition))
      val ends = this.ends.toArray
      _ => {
        val x = next()
        var fold = 0
        while (fold < ends.length && x >= ends(fold)) fold += 1
        fold
      }
    }
  }

  /** Folds that a column of integers names: see [[TrainingRow.Fold]]. */
  final case class Named(count: Int) extends Folds {
    override def areByPosition: Boolean = false

    private[data] override def of(partition: Int): InternalRow => Int =
      row => if (row.isNullAt(TrainingRow.Fold)) -1 else row.getInt(TrainingRow.Fold)
  }
}
