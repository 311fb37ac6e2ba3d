package dwell.data.rows

import dwell.data.block.{ColumnNames, ReadRows}

/**
 * Weighted moments of each feature over all rows, including implicit zeros. Features that are not solved for have 0 in
 * every array.
 *
 * @param mean
 *   weighted mean
 * @param variance
 *   weighted population variance; positive for the features that are solved for
 * @param classSums
 *   sums by class, or null unless all labels are 0 or 1
 * @param excluded
 *   whether there are features with nonzeros that are not solved for: constant ones, and those whose variance underflows to
 *   0. Spark treats both as constant too
 */
private[data] final class FeatureMoments(
    val mean: Array[Double],
    val variance: Array[Double],
    val classSums: ClassSums,
    excluded: Boolean) {

  /** The scale of each feature, see [[RowForm]]; null if every one is 1. */
  def scale(scaleFactor: Double, names: ColumnNames): Array[Double] =
    if (scaleFactor == 0.0 && !excluded) null
    else {
      Array.tabulate(variance.length) { j =>
        val scale =
          if (variance(j) == 0.0) 0.0
          else if (scaleFactor == 0.0) 1.0
          else 1.0 / (scaleFactor * variance(j))
        if (scale.isInfinite) {
          throw new IllegalArgumentException(
            s"${names.ofFeature(j)}: the values are so close to one another that the inverse of their " +
              "variance is not a finite number. Scale the feature up, for example with StandardScaler.")
        }
        scale
      }
    }
}

private[data] object FeatureMoments {

  /**
   * The moments, as reading has found them.
   *
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def of(rows: ReadRows): FeatureMoments = {
    val columns = rows.moments.columns
    val solved = rows.solved
    def spread(numbers: Array[Double]): Array[Double] = {
      val all = new Array[Double](rows.numFeatures)
      solved.foreach(i => all(columns(i)) = numbers(i))
      all
    }
    val classSums =
      if (!rows.hasBinaryLabels) null
      else new ClassSums(spread(rows.moments.positive), rows.labels.positiveWeight)
    new FeatureMoments(spread(rows.mean), spread(rows.variance), classSums, solved.length < columns.length)
  }
}
