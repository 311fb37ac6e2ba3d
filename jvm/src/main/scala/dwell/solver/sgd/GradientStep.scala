package dwell.solver.sgd

import dwell.comm.Contribution
import dwell.solver.{LocalData, ResultLayout, RowData, SolverSelection, TaskCancellation}

/** What the workers are asked in one exchange; what differs between them is by partition. */
private[solver] sealed trait GradientCall extends Serializable

/**
 * Local descent over the next rows; the update is the model reached, weighted.
 *
 * @param epochs
 *   passes over the partition's rows
 * @param cursors
 *   where each partition is in its order of rows: see [[Descend]]
 * @param steps
 *   rows that each partition has visited
 * @param shares
 *   weight of each partition's model in the average
 */
private[solver] final case class DescendCall(
    schedule: StepSchedule,
    epochs: Double,
    cursors: Array[Long],
    steps: Array[Long],
    running: Boolean,
    shares: Array[Double])
    extends GradientCall

/**
 * Local descent over so many rows with each candidate of the first step; the update has no vector.
 *
 * @param rows
 *   of each partition
 */
private[solver] final case class SearchCall(schedule: StepSchedule, candidates: Array[Double], rows: Long)
    extends GradientCall

/** Losses and gradient of all rows, or the dual counterparts; the update is the gradient. See [[Evaluate]]. */
private[solver] final case class EvaluateCall(factor: Double, dual: Option[Array[Double]]) extends GradientCall

/** The message of one exchange. The model goes with it. */
private[solver] final case class GradientMessage(
    fit: Long,
    seed: Long,
    problem: SgdProblem,
    call: GradientCall,
    selection: SolverSelection)

/** What a worker says beside its vector. */
private[solver] final case class GradientReply(solver: String)

/** The worker's half of an exchange, as it runs in a task. It keeps nothing: running it again gives the same. */
private[solver] object GradientStep {

  def apply(data: LocalData, message: GradientMessage, shared: Array[Byte]): Contribution[GradientReply] = data match {
    case rows: RowData => onRows(rows, message, shared)
    case _ => throw new IllegalArgumentException(s"partition ${data.index} holds columns, and gradients are of rows")
  }

  private def onRows(data: RowData, message: GradientMessage, shared: Array[Byte]): Contribution[GradientReply] = {
    val local = message.selection.solver()
    val solver = local.sgd
    val rows = data.partition.numRows
    val started = ResultLayout.now()
    val result = message.call match {
      case _: SearchCall => new Array[Byte](ResultLayout.HeaderBytes)
      case _ => SgdLayout.allocate(data.partition.features, message.problem.loss.outputs)
    }
    // A partition without rows has nothing to add, and no row to measure at.
    if (rows > 0) {
      TaskCancellation { cancellation =>
        message.call match {
          case c: DescendCall =>
            val k = data.index
            val budget = math.max(1L, math.ceil(c.epochs * rows).toLong)
            val r = Descend(
              message.fit,
              message.seed,
              message.problem,
              c.schedule,
              budget,
              c.cursors(k),
              c.steps(k),
              c.running,
              c.shares(k))
            solver.descend(data, r, shared, result, cancellation)
          case c: SearchCall =>
            val r =
              Search(
                message.fit,
                message.seed,
                message.problem,
                c.schedule,
                c.candidates,
                c.rows,
                cursor = 0L,
                steps = 0L)
            solver.search(data, r, shared, result, cancellation)
          case c: EvaluateCall =>
            solver.evaluate(
              data,
              Evaluate(message.fit, message.problem, c.factor, c.dual),
              shared,
              result,
              cancellation)
        }
      }
    }
    ResultLayout.put(result, ResultLayout.Started, started)
    val factors = message.call match {
      case _: DescendCall => SgdLayout.decay(result)
      case _ => Array.emptyDoubleArray
    }
    Contribution(result, GradientReply(local.name), factors)
  }
}
