package dwell.data.rows

/**
 * Weighted sums of the features by class: the sum of s_i x_ij over the rows i of the class, one entry for each feature
 * j. Features that are not solved for have 0.
 *
 * @param positive
 *   over the rows of label 1
 * @param negative
 *   over the rows of label 0 (-1 if labels are signed)
 * @param positiveWeight
 *   sum of the weights of the rows of label 1
 */
final class ClassSums private[data] (
    val positive: Array[Double],
    val negative: Array[Double],
    val positiveWeight: Double)
    extends Serializable
