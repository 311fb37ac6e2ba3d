package dwell.comm

/** What all workers have answered beside their vectors; see [[Gathered]]. */
final case class Replies[S](headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)

/**
 * Sum of the workers' vectors, and their scalars by partition.
 *
 * @param addSeconds
 *   time spent on adding, which no worker's time covers
 */
final case class Gathered[S](sum: Array[Double], headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)
