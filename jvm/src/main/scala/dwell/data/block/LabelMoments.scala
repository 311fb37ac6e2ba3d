package dwell.data.block

/**
 * Sums of the weights, and the weighted mean and population variance of the labels. These take two passes in row order.
 *
 * @param weights
 *   weight of each row, or null if every weight is 1
 * @throws IllegalArgumentException
 *   if a sum or a moment leaves the range of a double
 */
private[data] final class LabelMoments(labels: Array[Double], weights: Array[Double], names: ColumnNames) {
  val (totalWeight: Double, weightSquareSum: Double) =
    if (weights == null) (labels.length.toDouble, labels.length.toDouble)
    else {
      var sum = 0.0
      var squares = 0.0
      var j = 0
      while (j < weights.length) {
        sum += weights(j)
        squares += weights(j) * weights(j)
        j += 1
      }
      (sum, squares)
    }
  if (weightSquareSum.isInfinite || totalWeight.isInfinite || totalWeight * totalWeight == 0.0) {
    throw new IllegalArgumentException(
      s"Column '${names.weight}': the sum of the weights or of their squares leaves the range of a double. Only " +
        "the ratios of weights matter: scale them to about 1.")
  }

  val mean: Double = {
    var sum = 0.0
    var j = 0
    while (j < labels.length) {
      sum += (if (weights == null) labels(j) else weights(j) * labels(j))
      j += 1
    }
    sum / totalWeight
  }

  val variance: Double = {
    var sum = 0.0
    var j = 0
    while (j < labels.length) {
      val difference = labels(j) - mean
      sum += (if (weights == null) difference * difference else weights(j) * (difference * difference))
      j += 1
    }
    sum / totalWeight
  }
  if (variance.isNaN || variance.isInfinite) {
    throw new IllegalArgumentException(
      s"Column '${names.label}': the labels are so large that their variance is not a finite number. Scale them " +
        "down.")
  }

  val constant: Boolean = {
    var j = 1
    while (j < labels.length && labels(j) == labels(0)) j += 1
    j >= labels.length
  }
}
