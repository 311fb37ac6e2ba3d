package dwell.solver.cd.contract

import dwell.fit.SolverSelection

/** What the driver asks of every worker in one exchange. */
sealed abstract class Phase(val name: String) extends Serializable {

  /** Whether the coordinates of this exchange are those that the driver has reckoned with. */
  def continues: Boolean = true
}

object Phase {

  /** Local coordinate steps; the update is the data's product with them. */
  case object Round extends Phase("round")

  /** The committed coordinates as they are; the update is the data's product with them, to build the shared vector anew. */
  case object Rebuild extends Phase("rebuild")

  /** As `Rebuild`, from coordinates that an earlier model gives: the first exchange of a fit that does not start at zero. */
  final case class Start(from: StartingPoint) extends Phase("start") {
    override def continues: Boolean = false
  }

  /** As `Rebuild`, and the coefficients come along. */
  case object Collect extends Phase("collect")
}

/**
 * The message of one exchange. The shared vector goes with it, little endian; it is empty where the phase does not read it.
 *
 * @param states
 *   null where workers keep their state between rounds; else the state of every partition, which then travels
 */
final case class CdMessage(phase: Phase, request: RoundRequest, states: Array[WorkerState], selection: SolverSelection)

/**
 * What a worker says beside its vector.
 *
 * @param lost
 *   the worker does not hold the state that the message refers to
 * @param state
 *   where state travels: the state after the exchange, with the pending step
 * @param coefficients
 *   in the phase `Collect`: global feature ids and values of the nonzero coefficients
 */
final case class CdReply(
    lost: Boolean,
    solver: String,
    state: Option[WorkerState],
    coefficients: Option[(Array[Int], Array[Double])])
