package dwell.ml.tuning

import java.util.{List => JavaList}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.evaluation.Evaluator
import org.apache.spark.ml.param.ParamMap
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.functions.col

import dwell.data.folds.Folds

/** Searches for callers that deal the rows themselves, as Python's validators do: a column names the fold of each row. */
object NamedFolds {

  /**
   * Fits and evaluates all maps, see [[Search.open]].
   *
   * @param uid
   *   of the validator
   * @param column
   *   of integers
   * @param folds
   *   how many folds there are
   * @param isCross
   *   whether each fold in turn is left out; otherwise the last one
   * @param keepsModels
   *   whether all models are asked for
   * @return
   *   null if Spark's own search has to run
   */
  def open(
      uid: String,
      estimator: Estimator[_],
      evaluator: Evaluator,
      maps: JavaList[ParamMap],
      dataset: Dataset[_],
      column: String,
      folds: Int,
      isCross: Boolean,
      keepsModels: Boolean): Search = {
    val all = (0 until folds).toSet
    val sets = if (isCross) (0 until folds).map(all - _) else Seq(all - (folds - 1))
    def frames = sets.map { set =>
      val chosen = col(column).isin(set.toSeq: _*)
      (dataset.filter(chosen).drop(column), dataset.filter(!chosen).drop(column))
    }
    val split = new Split(Some(column), _ => Folds.Named(folds), sets, frames)
    Search.open(uid, estimator, evaluator, maps.asScala.toSeq, dataset, keepsModels)(split).orNull
  }
}
