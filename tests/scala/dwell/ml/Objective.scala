package dwell.ml

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.DataFrame

/** F of `dwell.ml.regression.LinearRegression`, directly from its definition: the brute-force reference of the tests. */
object Objective {

  /**
   * The objective that `model` was trained for, on the rows of `data` (columns label, features and the weight column).
   * Deviations are those of the population for `normal`, and of the sample for `l-bfgs`.
   */
  def apply(solver: String, data: DataFrame, model: LinearRegressionModel): LinearRegressionModel => Double = {
    val weighted = model.isDefined(model.weightCol)
    val columns = Seq("label", "features") ++ (if (weighted) Seq(model.getWeightCol) else Nil)
    val rows = data
      .select(columns.head, columns.tail: _*)
      .collect()
      .map(r => (r.getDouble(0), if (weighted) r.getDouble(2) else 1.0, r.getAs[Vector](1).toArray))
      .filter(_._2 > 0.0)
      .toIndexedSeq
    val objective = new LocalObjective(rows.map(_._3), rows.map(_._1), rows.map(_._2), LocalObjective.squared)
    val population = solver == "normal"
    val (regParam, elasticNet) = (model.getRegParam, model.getElasticNetParam)
    val l2 = regParam * (1.0 - elasticNet) / objective.labelDeviation(population)
    m => objective(m.coefficients.toArray, m.intercept, regParam * elasticNet, l2, model.getStandardization, population)
  }
}
