package dwell.ml

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.DataFrame

/**
 * F of `dwell.ml.regression.LinearRegression`, directly from its definition: the brute-force reference of the tests.
 *
 * @param population
 *   whether deviations are those of the population (`normal`) or of the sample (`l-bfgs`)
 */
final class Objective private (
    rows: Array[(Double, Double, Array[Double])],
    population: Boolean,
    standardization: Boolean,
    regParam: Double,
    elasticNet: Double) {

  private val total = rows.map(_._2).sum
  private val factor = if (population) 1.0 else total / (total - rows.map(r => r._2 * r._2).sum / total)

  private def deviation(value: ((Double, Double, Array[Double])) => Double): Double = {
    val mean = rows.map(r => r._2 * value(r)).sum / total
    math.sqrt(rows.map(r => r._2 * math.pow(value(r) - mean, 2)).sum / total * factor)
  }

  private val labelDeviation = deviation(_._1)
  private val featureDeviations = rows.head._3.indices.map(i => deviation(_._3(i)))

  def apply(model: LinearRegressionModel): Double = {
    val a = model.coefficients.toArray
    val loss = rows.map { case (y, w, x) =>
      val z = x.indices.map(i => x(i) * a(i)).sum + model.intercept
      w * (y - z) * (y - z)
    }.sum / (2.0 * total)
    val scaled = a.indices.map(i => a(i) * (if (standardization) featureDeviations(i) else 1.0))
    loss + regParam * (elasticNet * scaled.map(math.abs).sum +
      (1.0 - elasticNet) / (2.0 * labelDeviation) * scaled.map(u => u * u).sum)
  }
}

object Objective {

  /** The objective that `model` was trained for, on the rows of `data` (columns label, features and the weight column). */
  def apply(solver: String, data: DataFrame, model: LinearRegressionModel): Objective = {
    val weighted = model.isDefined(model.weightCol)
    val columns = Seq("label", "features") ++ (if (weighted) Seq(model.getWeightCol) else Nil)
    val rows = data
      .select(columns.head, columns.tail: _*)
      .collect()
      .map(r => (r.getDouble(0), if (weighted) r.getDouble(2) else 1.0, r.getAs[Vector](1).toArray))
      .filter(_._2 > 0.0)
    new Objective(rows, solver == "normal", model.getStandardization, model.getRegParam, model.getElasticNetParam)
  }
}
