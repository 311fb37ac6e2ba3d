package dwell.solver.rows.worker

import dwell.comm.wire.Contribution
import dwell.data.{LocalData, RowData}
import dwell.jni.{ResultHeader, SgdLayout}
import dwell.spark.{NativeLibrary, TaskCancellation}

/** The worker's part of an exchange. It runs in a task and keeps no state, so a second run gives the same result. */
private[solver] object SgdStep {

  /**
   * Runs the call of `message` on a partition.
   *
   * @param shared
   *   the model to start from, little endian
   * @throws IllegalArgumentException
   *   if the partition holds columns
   * @throws dwell.jni.NativeUnavailableException
   *   if the library cannot load
   */
  def apply(data: LocalData, message: SgdMessage, shared: Array[Byte]): Contribution[Unit] = data match {
    case rows: RowData => onRows(rows, message, shared)
    case _ => throw new IllegalArgumentException(s"partition ${data.index} holds columns, and gradients are of rows")
  }

  private def onRows(data: RowData, message: SgdMessage, shared: Array[Byte]): Contribution[Unit] = {
    NativeLibrary.require()
    val rows = data.partition.numRows
    val started = ResultHeader.now()
    val result = message.call match {
      case _: SearchCall => new Array[Byte](ResultHeader.BYTES)
      case _ => SgdLayout.allocate(data.partition.features, message.problem.loss.outputs)
    }
    // A partition without rows adds nothing, and has no row to measure at.
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
              c.shares(k))
            NativeSgd.descend(data, r, shared, result, cancellation)
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
            NativeSgd.search(data, r, shared, result, cancellation)
          case c: EvaluateCall =>
            NativeSgd.evaluate(
              data,
              Evaluate(message.fit, message.problem, c.factor, c.dual),
              shared,
              result,
              cancellation)
        }
      }
    }
    ResultHeader.put(result, ResultHeader.STARTED, started)
    val factors = message.call match {
      case _: DescendCall => SgdLayout.factors(result)
      case _ => Array.emptyDoubleArray
    }
    Contribution(result, (), factors)
  }
}
