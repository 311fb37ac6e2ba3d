package dwell.solver.cd.worker

/** The leader's request to every worker, in one exchange. */
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
 */
final case class CoordinateMessage(phase: Phase, request: RoundRequest) extends CdMessage

/**
 * Asks for the labels and weights of the rows, in the primal form: worker k of K sends slice k of
 * [[dwell.base.SliceBounds]].
 *
 * @param workers
 *   K
 */
final case class RowsMessage(workers: Int) extends CdMessage

/**
 * A worker's reply, beside its vector.
 *
 * @param lost
 *   the worker does not hold the state that the message refers to
 * @param coefficients
 *   in the phase `Collect`: global feature ids and values of the nonzero coefficients; both are empty for rows
 * @param rows
 *   the answer to [[RowsMessage]]
 */
final case class CdReply(
    lost: Boolean,
    coefficients: Option[(Array[Int], Array[Double])],
    rows: Option[RowsRead] = None)

/**
 * Answer to [[RowsMessage]].
 *
 * @param labels
 *   as the data hold them
 * @param weights
 *   null if every weight is 1
 */
final case class RowsRead(labels: Array[Double], weights: Array[Double])
