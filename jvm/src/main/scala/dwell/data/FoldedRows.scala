package dwell.data

import scala.collection.mutable

import org.apache.spark.rdd.RDD

import dwell.data.block.{ReadFacts, ReadRows}

/**
 * The rows of a search: read once, in blocks of one fold each. Training sets share these blocks, and a search on one of them holds no
 * other copy of the rows unless its method asks for one.
 *
 * @param all
 *   the rows of all folds
 * @param sets
 *   the folds of each training set, with the facts of its rows
 * @param folds
 *   the facts of each fold
 */
final class FoldedRows private[data] (all: ReadRows, sets: Seq[(Set[Int], ReadFacts)], folds: Seq[ReadFacts]) {

  /** All rows. Releasing them releases the blocks. */
  val whole: TrainingRows = new TrainingRows(all)

  /** All folds. */
  def allFolds: Set[Int] = folds.indices.toSet

  /** The length of the feature vectors in the source. */
  def vectorLength: Int = whole.vectorLength

  /** The rows of a training set. Releasing them leaves the blocks where they are. */
  def training(set: Int): TrainingRows = {
    val (folds, facts) = sets(set)
    new TrainingRows(all.part(folds, facts))
  }

  private val alone = mutable.Map.empty[Int, TrainingRows]

  /** The rows of one fold. Releasing all rows releases them. */
  def fold(fold: Int): TrainingRows =
    alone.getOrElseUpdate(fold, new TrainingRows(all.part(Set(fold), folds(fold))))

  /** How many rows a training set leaves out. */
  def heldOutRows(set: Int): Long = whole.numRows - sets(set)._2.summaries.map(_.labels.rows).sum

  /**
   * The rows that a training set leaves out, as each partition's blocks.
   *
   * A task fails with [[dwell.spark.InputChangedException]] if a partition was read again and differs.
   */
  def heldOut(set: Int): RDD[HeldRows] = {
    val (folds, occurring, length) = (sets(set)._1, all.names.occurring, vectorLength)
    all.verifiedBlocks
      .filter(block => block.rows > 0 && !folds(block.fold))
      .map(new HeldRows(_, occurring, length))
  }

  /** Releases the blocks. */
  def unpersist(): Unit =
    try alone.values.foreach(_.unpersist())
    finally whole.unpersist()
}
