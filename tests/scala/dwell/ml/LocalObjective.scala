package dwell.ml

/**
 * The objective of a linear model, straight from its definition, on rows that this JVM holds: the same function for every
 * model of the same data.
 *
 * @param x
 *   features of each row
 * @param y
 *   label of each row
 * @param weights
 *   weight of each row, positive
 * @param loss
 *   of a label and a margin
 */
final class LocalObjective(
    x: IndexedSeq[Array[Double]],
    y: IndexedSeq[Double],
    weights: IndexedSeq[Double],
    loss: (Double, Double) => Double) {
  private val total = weights.sum

  /** Factor from the variance of the population to the variance of the sample. */
  private val sample = total / (total - weights.map(w => w * w).sum / total)

  private def variance(values: IndexedSeq[Double]): Double = {
    val mean = values.indices.map(j => weights(j) * values(j)).sum / total
    values.indices.map(j => weights(j) * math.pow(values(j) - mean, 2)).sum / total
  }

  private lazy val variances = x.head.indices.map(i => variance(x.map(_(i))))

  /** Deviation of the labels, in the population or the sample. */
  def labelDeviation(population: Boolean): Double = deviation(variance(y), population)

  private def deviation(variance: Double, population: Boolean): Double =
    math.sqrt(if (population) variance else variance * sample)

  /**
   * Mean loss plus penalty.
   *
   * @param l1
   *   weight of the sum of |u_i|
   * @param l2
   *   weight of the sum of u_i^2 / 2
   * @param standardization
   *   whether u_i is the coefficient times the deviation of its feature, otherwise the coefficient
   * @param population
   *   whether these are deviations in the population, otherwise in the sample
   */
  def apply(
      coefficients: Array[Double],
      intercept: Double,
      l1: Double,
      l2: Double,
      standardization: Boolean,
      population: Boolean): Double = {
    val used = coefficients.indices.filter(coefficients(_) != 0.0)
    val losses = x.indices.map { j =>
      weights(j) * loss(y(j), used.map(i => x(j)(i) * coefficients(i)).sum + intercept)
    }
    val scaled =
      used.map(i => math.abs(coefficients(i)) * (if (standardization) deviation(variances(i), population) else 1.0))
    losses.sum / total + scaled.map(u => l1 * u + l2 * u * u / 2.0).sum
  }
}

object LocalObjective {

  /** The loss of least squares. */
  def squared(y: Double, z: Double): Double = (y - z) * (y - z) / 2.0
}
