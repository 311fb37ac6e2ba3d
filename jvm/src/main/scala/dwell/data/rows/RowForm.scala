package dwell.data.rows

/**
 * What is computed from the rows for a solver that goes along them.
 *
 * @param scaleFactor
 *   0: the features' scale is 1. Otherwise it is 1 / (scaleFactor * variance), and this is the factor from population
 *   variance to the variance that is meant (1, or that of the sample)
 * @param intercept
 *   whether there is an intercept, for which products with the features' means are needed
 * @param signedLabels
 *   whether labels 0 and 1 become -1 and 1
 * @param mixed
 *   whether the rows of a partition are in random order, as stochastic gradients want them: rows that are alike, as of one
 *   class where labels are sorted, must not follow one another. Else they are in that of the dataset
 */
final case class RowForm(scaleFactor: Double, intercept: Boolean, signedLabels: Boolean, mixed: Boolean = false) {
  require(
    scaleFactor >= 0.0 && !scaleFactor.isInfinite,
    s"scaleFactor must be finite and not negative, but was $scaleFactor")
}
