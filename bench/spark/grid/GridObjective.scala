package dwell.bench.grid

import org.apache.spark.ml.Model
import org.apache.spark.ml.classification.{LinearSVCModel, LogisticRegressionModel}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.DataFrame

/**
 * The objective of a fit as Spark defines it, straight from the data: the same function for every model. Spark's
 * `LinearRegression` takes deviations of the population up to 4096 features, and of the sample above.
 */
private[bench] final class GridObjective(frame: DataFrame, fit: GridFit) {
  import GridObjective._

  private val columns = Seq("features", fit.kind.label) ++ Option.when(fit.weighted)(GridRows.Weight)
  private val rows = frame.select(columns.head, columns.tail: _*).rdd.map { row =>
    Observation(row.getAs[Vector](0), row.getDouble(1), if (row.length == 3) row.getDouble(2) else 1.0)
  }

  private val moments = {
    val size = features(frame)
    rows.treeAggregate(Moments(0.0, 0.0, 0.0, 0.0, new Array(size), new Array(size)))(
      { (sums, row) =>
        row.x.foreachActive { (j, value) =>
          sums.first(j) += row.weight * value
          sums.second(j) += row.weight * value * value
        }
        sums.copy(
          sums.weight + row.weight,
          sums.squares + row.weight * row.weight,
          sums.label + row.weight * row.label,
          sums.labelSquares + row.weight * row.label * row.label)
      },
      (one, other) => {
        one.first.indices.foreach { j =>
          one.first(j) += other.first(j)
          one.second(j) += other.second(j)
        }
        one.copy(
          one.weight + other.weight,
          one.squares + other.squares,
          one.label + other.label,
          one.labelSquares + other.labelSquares)
      })
  }

  private val factor =
    if (fit.kind == GridFit.Linear && moments.first.length <= MostForNormal) 1.0
    else moments.weight / (moments.weight - moments.squares / moments.weight)

  private def deviation(sum: Double, squares: Double): Double = {
    val mean = sum / moments.weight
    math.sqrt(math.max(0.0, factor * (squares / moments.weight - mean * mean)))
  }

  private val deviations = moments.first.indices.map(j => deviation(moments.first(j), moments.second(j))).toArray

  /** Features of a row. */
  def size: Int = deviations.length

  /** Factor of the absolute values, and of half the squares, of coefficients times deviations. */
  def l1: Double = fit.regParam * fit.elasticNet
  def l2: Double = fit.regParam * (1.0 - fit.elasticNet) /
    (if (fit.kind == GridFit.Linear) deviation(moments.label, moments.labelSquares) else 1.0)

  /** Mean loss plus penalty. */
  def apply(model: Model[_]): Double = {
    val (coefficients, intercepts) = parts(model)
    of(coefficients, intercepts)
  }

  /** The same; the coefficient of feature j and output c is at j C + c. */
  def of(coefficients: Array[Double], intercepts: Array[Double]): Double = {
    val (kind, outputs) = (fit.kind, intercepts.length)
    val sent = frame.sparkSession.sparkContext.broadcast(coefficients)
    val loss = rows
      .map { row =>
        val margins = intercepts.clone()
        row.x.foreachActive { (j, value) =>
          var c = 0
          while (c < outputs) {
            margins(c) += value * sent.value(j * outputs + c)
            c += 1
          }
        }
        row.weight * lossOf(kind, margins, row.label)
      }
      .sum()
    sent.destroy()
    val scaled = coefficients.indices.map { i =>
      coefficients(i) * (if (fit.standardization) deviations(i / outputs) else 1.0)
    }
    loss / moments.weight + scaled.iterator.map(u => l1 * u.abs + l2 * u * u / 2.0).sum
  }
}

private[bench] object GridObjective {

  /** Features up to which Spark's `LinearRegression` takes its `normal` solver. */
  private val MostForNormal = 4096

  private final case class Observation(x: Vector, label: Double, weight: Double)

  /** Sums over the rows: weights and their squares, the label and its square, features and their squares. */
  private final case class Moments(
      weight: Double,
      squares: Double,
      label: Double,
      labelSquares: Double,
      first: Array[Double],
      second: Array[Double])

  /** The number of features. */
  def features(frame: DataFrame): Int = frame.select("features").first().getAs[Vector](0).size

  /** Coefficient of feature j and output c at j C + c, and the intercepts. */
  def parts(model: Model[_]): (Array[Double], Array[Double]) = model match {
    case m: LinearRegressionModel => (m.coefficients.toArray, Array(m.intercept))
    case m: LinearSVCModel => (m.coefficients.toArray, Array(m.intercept))
    // The array of a matrix goes column by column, and a column has a number for each class.
    case m: LogisticRegressionModel => (m.coefficientMatrix.toArray, m.interceptVector.toArray)
  }

  private def lossOf(kind: GridFit.Kind, margins: Array[Double], label: Double): Double = kind match {
    case GridFit.Linear => math.pow(label - margins(0), 2.0) / 2.0
    case GridFit.Logistic =>
      val distance = -(2.0 * label - 1.0) * margins(0)
      math.max(0.0, distance) + math.log1p(math.exp(-distance.abs))
    case GridFit.TenClasses =>
      val most = margins.max
      most + math.log(margins.map(z => math.exp(z - most)).sum) - margins(label.toInt)
    case GridFit.Svc => math.max(0.0, 1.0 - (2.0 * label - 1.0) * margins(0))
  }
}
