package dwell.ml.tuning

import org.apache.spark.ml.{Model, Transformer}
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.DataFrame
import org.apache.spark.storage.StorageLevel

import dwell.data.{FoldedRows, TrainingRows}
import dwell.solver.{FoldSums, KeptFits, LinearTrainer}

/** Reads the rows of a search: once where no stage before the linear estimator needs a fit, and otherwise once a training set. */
private[tuning] sealed trait SearchRows extends AutoCloseable {

  /** How often the rows are read, and why. */
  def how: String

  /** Seconds of reading so far, and of the fits of stages. */
  def seconds: Double

  /** Uses the rows of a training set, and those that it leaves out. */
  def of[T](set: Int)(use: SetRows => T): T

  /** The model of a map on all rows. */
  def onAllRows(map: ParamMap)(done: => Unit): OnAllRows
}

/** A linear model, and the stages before it. */
private[tuning] final class OnAllRows(val model: Model[_], val stages: Seq[Transformer])

/**
 * The rows of a training set.
 *
 * @param stages
 *   before the linear estimator
 * @param trainer
 *   of these rows
 * @param training
 *   the same rows as the linear estimator's own fit would get them
 * @param rows
 *   that have the training set
 * @param number
 *   of the training set in them
 */
private[tuning] final class SetRows(
    val stages: Seq[Transformer],
    val trainer: LinearTrainer,
    val training: DataFrame,
    val rows: FoldedRows,
    val number: Int)

private[tuning] object SearchRows {

  /** A training set has rows of which fits on the folds have to say what is wrong. */
  final class NotReadable extends RuntimeException

  /** Rows that all training sets share. */
  private final class Once(
      searched: Searched[_],
      split: Split,
      stages: Seq[Transformer],
      data: DataFrame,
      rows: FoldedRows,
      override val seconds: Double)
      extends SearchRows {
    private val sums = new FoldSums(rows)
    private val kept = new KeptFits

    override def how: String = "rows are read once"

    override def of[T](set: Int)(use: SetRows => T): T = {
      val training = searched.prepared(split.training(set), stages)
      use(new SetRows(stages, trainer(rows.training(set), split.sets(set)), training, rows, set))
    }

    override def onAllRows(map: ParamMap)(done: => Unit): OnAllRows =
      new OnAllRows(searched.fitted(Seq(map), data, Some(trainer(rows.whole, rows.allFolds)))(done).head, stages)

    private def trainer(rows: TrainingRows, folds: Set[Int]): LinearTrainer =
      new LinearTrainer(rows, sums = Some(sums.of(folds)), kept = kept)

    override def close(): Unit = rows.unpersist()
  }

  /** Rows that are read for each training set, since stages before the linear estimator are fitted to it. */
  private final class BySet(searched: Searched[_], maps: Seq[ParamMap], dataset: DataFrame, split: Split)
      extends SearchRows {
    private var spent = 0.0

    override def how: String =
      s"rows are read once for each training set, as ${searched.toFit.mkString(" and ")} need a fit to it"

    override def seconds: Double = spent

    override def of[T](set: Int)(use: SetRows => T): T = {
      val started = System.nanoTime()
      val training = split.training(set)
      // As Spark's search does, unless the rows are cached or looked at once.
      val isCached = dataset.storageLevel == StorageLevel.NONE && searched.toFit.size > 1
      if (isCached) training.cache()
      try {
        val stages = searched.stagesOn(training)
        val data = searched.prepared(dataset, stages)
        val rows = searched.read(maps, data, split.only(set)).getOrElse(throw new NotReadable)
        try {
          spent += (System.nanoTime() - started) * 1e-9
          val sums = new FoldSums(rows).of(split.sets(set))
          val trainer = new LinearTrainer(rows.training(0), sums = Some(sums))
          use(new SetRows(stages, trainer, searched.prepared(training, stages), rows, 0))
        } finally rows.unpersist()
      } finally if (isCached) training.unpersist()
    }

    override def onAllRows(map: ParamMap)(done: => Unit): OnAllRows = {
      val stages = searched.stagesOn(dataset)
      new OnAllRows(searched.fitted(Seq(map), searched.prepared(dataset, stages), None)(done).head, stages)
    }

    override def close(): Unit = ()
  }

  /** None if fits on the folds have to say what is wrong with the rows. */
  def of(searched: Searched[_], maps: Seq[ParamMap], dataset: DataFrame, split: Split): Option[SearchRows] =
    if (searched.toFit.nonEmpty) Some(new BySet(searched, maps, dataset, split))
    else {
      val started = System.nanoTime()
      val stages = searched.stagesOn(dataset)
      val data = searched.prepared(dataset, stages)
      searched
        .read(maps, data, split)
        .map(new Once(searched, split, stages, data, _, (System.nanoTime() - started) * 1e-9))
    }
}
