package dwell.solver.cd.worker

/** The leader's request to every worker, as owners of coordinates, in one exchange. */
sealed abstract class Phase(val name: String) extends Serializable {

  /** Whether the workers' coordinates are those that the leader's shared vector was built from. */
  def continues: Boolean = true

  /** Whether the workers read the shared vector. */
  def reads: Boolean = false
}

/** The phases of a fit. */
object Phase {

  /** Runs local coordinate steps. The update is the product of the data with the steps. */
  case object Round extends Phase("round") {
    override def reads: Boolean = true
  }

  /**
   * Leaves the committed coordinates alone. The update is the product of the data with them, from which the leader
   * builds the shared vector anew.
   */
  case object Rebuild extends Phase("rebuild")

  /**
   * As `Rebuild`, from the coordinates of an earlier model: the first exchange of a fit that does not start at zero.
   */
  final case class Start(from: StartingPoint) extends Phase("start") {
    override def continues: Boolean = false
  }

  /** As `Rebuild`, and the worker sends its coefficients too. */
  case object Collect extends Phase("collect")
}

/** The message of one exchange. */
sealed trait CdMessage extends Serializable

/**
 * Work on the worker's coordinates. The shared vector travels with the message, little endian, and is empty if the phase
 * does not read it.
 *
 * @param states
 *   null if the workers keep their state between rounds; otherwise the state of every partition
 */
final case class CoordinateMessage(phase: Phase, request: RoundRequest, states: Array[WorkerState]) extends CdMessage

/**
 * Work on the worker's slice of the rows, in the primal form.
 *
 * @param fit
 *   identifier of the fit, as in [[RoundRequest]]
 * @param workers
 *   number of workers, K
 * @param threads
 *   threads of one call; the result does not depend on them
 */
final case class RowsMessage(asked: RowsRequest, fit: Long, workers: Int, threads: Int) extends CdMessage

/**
 * A worker's reply, beside its vector.
 *
 * @param lost
 *   the worker does not hold the state, or the slice of rows, that the message refers to
 * @param state
 *   if states travel: the state after the exchange, with the pending step
 * @param coefficients
 *   in the phase `Collect`: global feature ids and values of the nonzero coefficients; both are empty for rows
 * @param sums
 *   of a [[RowsMessage]]: the sums of [[RowsRequest.Run]]
 * @param seconds
 *   of a [[RowsMessage]]: the time that [[RowsRequest.Run]] took
 * @param rows
 *   of a [[RowsMessage]]: the answer to [[RowsRequest.Read]]
 */
final case class CdReply(
    lost: Boolean,
    state: Option[WorkerState],
    coefficients: Option[(Array[Int], Array[Double])],
    sums: Array[Double] = Array.emptyDoubleArray,
    seconds: Double = 0.0,
    rows: Option[RowsRead] = None)
