package dwell.ml.training

import dwell.data.TrainingRows

/** The sample variance, by which Spark standardises features. */
private[ml] object SampleVariance {

  /**
   * The ratio of the sample variance to the population variance, by Spark's definition for weighted rows:
   * S / (S - (sum of the squared weights) / S), with S the sum of the weights.
   */
  def factor(data: TrainingRows): Double =
    data.totalWeight / (data.totalWeight - data.weightSquareSum / data.totalWeight)
}
