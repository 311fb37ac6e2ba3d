package dwell.problem

/**
 * Statistics of the labels, for the leader.
 *
 * @param mean
 *   weighted mean
 * @param variance
 *   weighted population variance
 * @param totalWeight
 *   sum of the row weights, S
 * @param classWeights
 *   sum of the weights of each class, in the order of the classes, -1 before 1; null where labels are not classes
 */
final case class LabelFacts(mean: Double, variance: Double, totalWeight: Double, classWeights: Array[Double])
