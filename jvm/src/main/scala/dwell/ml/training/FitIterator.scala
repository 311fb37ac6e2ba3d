package dwell.ml.training

import java.util.NoSuchElementException

import scala.util.control.NonFatal

import org.apache.spark.ml.Model
import org.apache.spark.ml.param.{Param, ParamMap}
import org.apache.spark.sql.Dataset

import dwell.solver.LinearTrainer

/** A model and the index of the Param map that it was fitted with. */
final case class IndexedModel[M](index: Int, model: M)

/**
 * The fits of one estimator with several Param maps, on one dataset.
 *
 * Param maps that read the same columns share the data, and start from each other's solutions. Within a family the
 * largest penalty is solved first, so the models come in another order than the Param maps. Several threads may call
 * `next`; fits on the same columns then take turns in that order, so that models do not depend on the threads. Data is released after the last fit on it, and all data as soon as
 * a fit fails or the iterator is closed.
 *
 * @param readBefore
 *   trains on the data, where it was read before; then all Param maps read the same columns
 */
final class FitIterator[M <: Model[M]] private[ml] (
    estimator: SharingEstimator[M],
    dataset: Dataset[_],
    paramMaps: Seq[ParamMap],
    readBefore: Option[LinearTrainer] = None)
    extends java.util.Iterator[IndexedModel[M]]
    with AutoCloseable {
  import FitIterator._

  // Copied before the first fit, so that an invalid Param map fails here.
  private val planned: Array[Planned[M]] = plan(paramMaps.zipWithIndex.map { case (map, index) =>
    Planned(index, estimator.copy(map).asInstanceOf[SharingEstimator[M]])
  })
  private val rows: Map[Any, SharedRows] = planned.map(_.columns).distinct.map(_ -> new SharedRows(readBefore)).toMap
  private var position = 0
  private var waiting: Map[Any, Int] = planned.groupBy(_.columns).map { case (columns, fits) => columns -> fits.length }

  override def hasNext: Boolean = synchronized(position < planned.length)

  override def next(): IndexedModel[M] = {
    val fit = take()
    try IndexedModel(fit.index, fit.estimator.fitSharing(dataset, rows(fit.columns)))
    catch {
      case e: Throwable =>
        try close()
        catch { case NonFatal(other) => e.addSuppressed(other) }
        throw e
    } finally {
      // Spark's own code has not taken its turn.
      rows(fit.columns).turns.leave()
      if (isLast(fit)) rows(fit.columns).close()
    }
  }

  /** Ends the iterator and releases the data, after the fits that are running have ended. */
  override def close(): Unit = {
    synchronized { position = planned.length }
    rows.values.foreach(_.close())
  }

  private def take(): Planned[M] = synchronized {
    if (position >= planned.length) throw new NoSuchElementException("There are no more Param maps to fit.")
    position += 1
    val fit = planned(position - 1)
    rows(fit.columns).turns.join()
    fit
  }

  private def isLast(fit: Planned[M]): Boolean = synchronized {
    val left = waiting(fit.columns) - 1
    waiting += fit.columns -> left
    left == 0
  }
}

private object FitIterator {

  final case class Planned[M <: Model[M]](index: Int, estimator: SharingEstimator[M]) {
    import estimator._

    /** Fits that read the same columns can share the data. */
    val columns: Any = (getFeaturesCol, getLabelCol, get(weightCol).getOrElse(""))

    /** The other Params that must be equal for one solution to be a good start for the next. */
    val family: Any = FamilyParams.filter(hasParam).map(name => getOrDefault(getParam(name).asInstanceOf[Param[Any]]))
  }

  private val FamilyParams =
    Seq("loss", "solver", "family", "standardization", "fitIntercept", "orientation", "algorithm", "numWorkers")

  /** Orders groups and families as they appear, and the fits of a family by falling penalty. */
  private def plan[M <: Model[M]](fits: Seq[Planned[M]]): Array[Planned[M]] = {
    val groups = fits.map(_.columns).distinct
    val families = fits.map(_.family).distinct
    fits
      .sortBy(f => (groups.indexOf(f.columns), families.indexOf(f.family), -f.estimator.getRegParam, f.index))
      .toArray
  }
}
