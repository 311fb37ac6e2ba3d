package dwell.solver.problem

/**
 * What the leader knows of the labels.
 *
 * @param mean
 *   weighted mean
 * @param variance
 *   weighted population variance
 * @param totalWeight
 *   sum of the row weights, S
 * @param classWeights
 *   sum of the weights of each class, in the order of the classes, -1 before 1; null where labels are no classes
 */
final case class LabelFacts(mean: Double, variance: Double, totalWeight: Double, classWeights: Array[Double])
