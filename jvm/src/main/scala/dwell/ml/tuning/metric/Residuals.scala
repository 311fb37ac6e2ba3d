package dwell.ml.tuning.metric

/**
 * The metrics of `RegressionMetrics`.
 *
 * @param name
 *   Spark's name of the metric
 * @param throughOrigin
 *   whether r2 is of a regression through the origin
 */
private[tuning] final class Residuals(name: String, throughOrigin: Boolean) extends Metric {
  import Residuals._

  override def output: Output = Output.Prediction

  override def tally(): Tally = new Sums

  override def value(tallies: Seq[Tally]): Option[Double] = {
    val all = tallies.collect { case sums: Sums => sums }.reduce(_ ++ _)
    import all._
    name match {
      case "rmse" => Some(math.sqrt(squares / weight))
      case "mse" => Some(squares / weight)
      case "mae" => Some(absolute / weight)
      case "r2" if throughOrigin => Some(1.0 - squares / label.squaresAbout(0.0, weight))
      // Spark's variance of weighted rows, times the sum of the weights less 1.
      case "r2" => Some(1.0 - squares / (label.squares / (weight - weightSquares / weight) * (weight - 1.0)))
      case "var" => Some(prediction.squaresAbout(label.mean, weight) / weight)
      case _ => None
    }
  }
}

private object Residuals {

  /** A mean, and the sum of squared differences from it. */
  private final case class Spread(mean: Double, squares: Double) {
    def add(x: Double, weight: Double, before: Double): Spread = {
      val difference = x - mean
      val middle = mean + difference * (weight / (before + weight))
      Spread(middle, squares + weight * difference * (x - middle))
    }

    /** Puts two together, as Chan, Golub and LeVeque do. */
    def joined(that: Spread, own: Double, other: Double): Spread = {
      val difference = that.mean - mean
      val share = other / (own + other)
      Spread(mean + difference * share, squares + that.squares + difference * difference * own * share)
    }

    def squaresAbout(x: Double, weight: Double): Double = squares + weight * (mean - x) * (mean - x)
  }

  private final class Sums extends Tally {
    var weight, weightSquares, squares, absolute = 0.0
    var label, prediction = Spread(0.0, 0.0)

    override def add(predicted: Double, y: Double, rowWeight: Double): Unit = {
      val error = y - predicted
      label = label.add(y, rowWeight, weight)
      prediction = prediction.add(predicted, rowWeight, weight)
      squares += rowWeight * error * error
      absolute += rowWeight * math.abs(error)
      weight += rowWeight
      weightSquares += rowWeight * rowWeight
    }

    def ++(that: Sums): Sums =
      if (weight == 0.0) that
      else if (that.weight == 0.0) this
      else {
        val sum = new Sums
        sum.label = label.joined(that.label, weight, that.weight)
        sum.prediction = prediction.joined(that.prediction, weight, that.weight)
        sum.squares = squares + that.squares
        sum.absolute = absolute + that.absolute
        sum.weight = weight + that.weight
        sum.weightSquares = weightSquares + that.weightSquares
        sum
      }
  }
}
