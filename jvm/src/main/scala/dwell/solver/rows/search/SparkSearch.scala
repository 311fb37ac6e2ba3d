package dwell.solver.rows.search

import breeze.linalg.{DenseVector => BDV}
import breeze.optimize.{CachedDiffFunction, DiffFunction, FirstOrderMinimizer, LBFGSB}

/**
 * Breeze's L-BFGS within bounds as Spark runs it for the loss of Huber: all variables are free, but for the last one, which is positive.
 *
 * @param evaluate
 *   objective and gradient
 */
private[rows] final class SparkSearch(maxIterations: Int, tolerance: Double)(
    evaluate: Array[Double] => (Double, Array[Double])) {
  import SparkSearch._

  /** The start, and the iterations up to the one at which the search ends. */
  def iterations(start: Array[Double]): Iterator[ProjectedSearch.Point] = {
    val lower, upper = BDV.fill(start.length)(Double.MaxValue)
    lower *= -1.0
    lower(start.length - 1) = Double.MinPositiveValue
    val search = new LBFGSB(lower, upper, maxIterations, Memory, tolerance)
    val function = new CachedDiffFunction(new DiffFunction[BDV[Double]] {
      override def calculate(x: BDV[Double]): (Double, BDV[Double]) = {
        val (value, gradient) = evaluate(x.toArray)
        (value, BDV(gradient))
      }
    })
    search.iterations(function, BDV(start)).map { state =>
      val end = search.convergenceCheck(state, state.convergenceInfo)
      val isLast = end.exists(_ != FirstOrderMinimizer.MaxIterations)
      ProjectedSearch.Point(state.x.toArray, state.adjustedValue, state.adjustedGradient.toArray, Vector.empty, isLast)
    }
  }
}

private object SparkSearch {

  /** Number of corrections, as in Spark. */
  private val Memory = 10
}
