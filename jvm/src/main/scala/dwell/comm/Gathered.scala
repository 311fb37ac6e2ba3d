package dwell.comm

/** The workers' answers without their vectors; fields as in [[Gathered]]. */
final case class Replies[S](headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)

/**
 * The sum of the workers' vectors, and their other answers by partition.
 *
 * @param headers
 *   null for a worker that sent no bytes
 * @param addSeconds
 *   time spent on adding, which no worker's time includes
 */
final case class Gathered[S](sum: Array[Double], headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)
