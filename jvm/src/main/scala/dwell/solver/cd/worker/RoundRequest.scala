package dwell.solver.cd.worker

/**
 * The request for one round. All partitions receive the same object, and look up their own data, state and stamp by
 * partition index.
 *
 * @param fit
 *   identifier of the fit, unique within the application; first half of the key of the worker state
 * @param round
 *   number of the round, counted from 0; the version of the worker state that the round starts from
 * @param seed
 *   seed of the coordinate order
 * @param budget
 *   local work, as a fraction of a partition's coordinates: 1.0 is one epoch
 * @param certificate
 *   whether to measure the parts of the duality gap at the start of the round (one more data pass)
 * @param threads
 *   threads of one call, 1 to 256. Each thread makes its steps on its own copy of the shared vector, so
 *   the result depends on their number, but not on the number of cores
 * @param stamps
 *   for each partition, the stamp of the state that the leader's vector was built from
 * @param sigmaPrime
 *   CoCoA's subproblem parameter; the number of partitions is always safe
 * @param totalWeight
 *   sum of the row weights, S
 * @param theta1
 *   step factor for the pending direction of the previous round: 1 adds it, 0 rejects it
 * @param theta2
 *   step factor for the direction committed before that one
 * @param points
 *   points at which the line search needs samples: pairs (g1, g2), at most [[dwell.jni.CdLayout.MAX_POINTS]] of them
 * @param subproblem
 *   the local problem, in the orientation of the data
 */
final case class RoundRequest(
    fit: Long,
    round: Long,
    seed: Long,
    budget: Double,
    certificate: Boolean,
    threads: Int,
    stamps: Array[Long],
    sigmaPrime: Double,
    totalWeight: Double,
    theta1: Double,
    theta2: Double,
    points: Array[Double],
    subproblem: Subproblem) {

  /** The least number of coordinates that a partition of `numCoordinates` visits; it visits whole buckets. */
  def coordinates(numCoordinates: Int): Long = math.max(1L, math.ceil(numCoordinates * budget).toLong)
}
