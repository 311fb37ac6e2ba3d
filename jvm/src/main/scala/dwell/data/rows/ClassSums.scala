package dwell.data.rows

/**
 * What the rows of label 1 add up to.
 *
 * @param positive
 *   for each feature j the sum of s_i x_ij over them; 0 for features that are not solved for
 * @param positiveWeight
 *   sum of their weights
 */
final class ClassSums private[data] (val positive: Array[Double], val positiveWeight: Double) extends Serializable
