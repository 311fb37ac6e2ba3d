package dwell.solver

import java.util.concurrent.CancellationException

import org.apache.spark.{TaskContext, TaskKilledException}

import dwell.comm.Contribution
import dwell.data.ColumnPartition
import dwell.jni.Cancellation

/** What the driver asks of every worker in one exchange. */
sealed trait Phase extends Serializable
object Phase {

  /** Local coordinate steps; the update is A~ delta. */
  case object Round extends Phase

  /** The committed coordinates as they are; the update is A~ alpha, from which the residual is built anew. */
  case object Rebuild extends Phase

  /** As `Rebuild`, and the coefficients come along. */
  case object Collect extends Phase
}

/**
 * The message of one exchange.
 *
 * @param residual
 *   m doubles, little endian; empty where the phase does not read it
 * @param states
 *   null where workers keep their state between rounds; else the state of every partition, which then travels
 */
final case class RoundMessage(
    phase: Phase,
    request: RoundRequest,
    residual: Array[Byte],
    states: Array[WorkerState],
    selection: SolverSelection)

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
final case class WorkerReply(
    lost: Boolean,
    solver: String,
    state: Option[WorkerState],
    coefficients: Option[(Array[Int], Array[Double])])

/** The local step of primal CoCoA, as it runs in a task. */
object WorkerStep {

  /** A state that nobody has asked for in so long belongs to a driver that died. */
  private val AbandonedMillis = 6L * 60 * 60 * 1000

  def apply(partition: ColumnPartition, weights: Array[Double], message: RoundMessage): Contribution[WorkerReply] = {
    val solver = message.selection.solver()
    val context = TaskContext.get()
    val cancellation: Cancellation = () => context.isInterrupted()
    solver.expire(AbandonedMillis)
    try {
      val (update, state, coefficients) =
        if (message.states == null) exchange(solver, partition, weights, message, message.request, cancellation)
        else travelling(solver, partition, weights, message, context.taskAttemptId(), cancellation)
      val reply = WorkerReply(update.isEmpty, solver.name, state, coefficients)
      Contribution(update.getOrElse(Array.emptyByteArray), reply)
    } catch {
      case e: CancellationException => throw new TaskKilledException(s"fit cancelled: ${e.getMessage}")
    }
  }

  private type Outcome = (Option[Array[Byte]], Option[WorkerState], Option[(Array[Int], Array[Double])])

  private def exchange(
      solver: LocalSolver,
      partition: ColumnPartition,
      weights: Array[Double],
      message: RoundMessage,
      request: RoundRequest,
      cancellation: Cancellation): Outcome = {
    val result = ResultLayout.allocate(partition.rows)
    val held = message.phase match {
      case Phase.Round => solver.round(partition, weights, request, message.residual, result, cancellation)
      case Phase.Rebuild | Phase.Collect => solver.product(partition, weights, request, result, cancellation)
    }
    val coefficients =
      if (held && message.phase == Phase.Collect) {
        // The coefficients must be those of the product: a concurrent attempt may have left another state behind.
        val stamp = ResultLayout.get(result, ResultLayout.Stamp).toLong
        solver
          .exportState(request.fit, partition.index)
          .filter(state => state.version == request.round + 1 && state.stamp == stamp)
          .map(state => nonzeros(partition, state.alpha))
      } else None
    // A Collect whose state is gone has no coefficients to show, and is a loss as well.
    val complete = held && (message.phase != Phase.Collect || coefficients.nonEmpty)
    (if (complete) Some(result) else None, None, coefficients)
  }

  /**
   * The same exchange without state between rounds: the state is put under a key of this attempt alone, used once and
   * taken away again. It is the oracle that the persistent mode is tested against.
   */
  private def travelling(
      solver: LocalSolver,
      partition: ColumnPartition,
      weights: Array[Double],
      message: RoundMessage,
      attempt: Long,
      cancellation: Cancellation): Outcome = {
    val key = SplitMix.mix(message.request.fit ^ SplitMix.mix(attempt))
    solver.importState(key, partition.index, message.states(partition.index))
    try {
      val (update, _, coefficients) =
        exchange(solver, partition, weights, message, message.request.copy(fit = key), cancellation)
      (update, solver.exportState(key, partition.index), coefficients)
    } finally solver.free(key)
  }

  private def nonzeros(partition: ColumnPartition, alpha: Array[Double]): (Array[Int], Array[Double]) = {
    val features = new Array[Int](alpha.count(_ != 0.0))
    val values = new Array[Double](features.length)
    var next = 0
    var i = 0
    while (i < alpha.length) {
      if (alpha(i) != 0.0) {
        features(next) = partition.columns(i)
        values(next) = alpha(i)
        next += 1
      }
      i += 1
    }
    (features, values)
  }
}
