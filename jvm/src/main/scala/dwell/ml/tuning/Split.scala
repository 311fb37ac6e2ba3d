package dwell.ml.tuning

import org.apache.spark.sql.DataFrame

import dwell.data.folds.Folds

/**
 * How a search splits the rows.
 *
 * @param column
 *   the column that names the fold of each row, if there is one
 * @param folds
 *   deals so many source partitions to folds
 * @param sets
 *   the folds of each training set
 * @param frames
 *   the rows of each training set, and those that it leaves out, as Spark itself would make them
 */
private[tuning] final class Split(
    val column: Option[String],
    val folds: Int => Folds,
    val sets: Seq[Set[Int]],
    frames: => Seq[(DataFrame, DataFrame)]) {

  private lazy val made = frames

  /** The rows of a training set. */
  def training(set: Int): DataFrame = made(set)._1

  /** The same with one of the training sets. */
  def only(set: Int): Split = new Split(column, folds, Seq(sets(set)), Seq(made(set)))

  /** The rows that it leaves out. */
  def heldOut(set: Int): DataFrame = made(set)._2
}
