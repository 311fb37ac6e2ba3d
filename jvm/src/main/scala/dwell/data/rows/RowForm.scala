package dwell.data.rows

import dwell.problem.Labels

/**
 * The form in which a solver needs the rows.
 *
 * @param scaleFactor
 *   0: the scale of each feature is 1. Otherwise it is 1 / (scaleFactor * variance) with the population variance: the
 *   factor is 1, or turns the population variance into the sample variance
 * @param intercept
 *   whether the model has an intercept, which needs products with the features' means
 * @param labels
 *   the labels that the solver takes
 * @param mixed
 *   whether the rows of a worker must be mixed, so that similar ones do not follow one another, as the rows of one class do if labels are
 *   sorted. Stochastic gradients need it. Rows stay in their order if it is mixed, and otherwise they come in random order
 */
final case class RowForm(scaleFactor: Double, intercept: Boolean, labels: Labels, mixed: Boolean = false) {
  require(
    scaleFactor >= 0.0 && !scaleFactor.isInfinite,
    s"scaleFactor must be finite and not negative, but was $scaleFactor")
}
