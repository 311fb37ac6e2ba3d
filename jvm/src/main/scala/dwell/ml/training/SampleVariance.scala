package dwell.ml.training

import dwell.data.TrainingRows

private[ml] object SampleVariance {

  /**
   * Ratio of the sample's variance to the population's, by Spark's definition for weighted rows: S / (S - (sum of the
   * squared weights) / S), with S the sum of the weights.
   */
  def factor(data: TrainingRows): Double =
    data.totalWeight / (data.totalWeight - data.weightSquareSum / data.totalWeight)
}
