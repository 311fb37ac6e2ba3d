package dwell.solver

import scala.collection.mutable

import dwell.report.{RoundRecord, WorkerTime}

/**
 * The records of the rounds of one fit, made of what its workers report.
 *
 * @param completed
 *   called with each record but that of the start
 */
private[solver] final class Timeline(completed: RoundRecord => Unit) {
  private val started = ResultLayout.now()
  private val made = mutable.ArrayBuffer.empty[RoundRecord]

  def records: Seq[RoundRecord] = made.toSeq

  /** Rounds so far, that of the start not counted. */
  def rounds: Int = made.last.round

  /** Round 0, before any work. */
  def begin(objective: Double, gap: Double): Unit =
    made += RoundRecord(0, objective, gap, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0, elapsed, Seq.empty)

  /**
   * A round that is over.
   *
   * @param objective
   *   F after it
   * @param clock
   *   `System.nanoTime` at its start
   * @param driverSeconds
   *   of it, spent by whoever leads
   * @param epochs
   *   local work
   * @param note
   *   what the reader of the report has to know of it
   */
  def add(
      objective: Double,
      gap: Double,
      clock: Long,
      driverSeconds: Double,
      epochs: Double,
      headers: Headers,
      losses: Int = 0,
      note: String = ""): RoundRecord = {
    val seconds = (System.nanoTime() - clock) * 1e-9
    val worker = headers.largest(ResultLayout.SolverNanos) * 1e-9
    val record = RoundRecord(
      rounds + 1,
      objective,
      gap,
      seconds,
      worker,
      math.max(0.0, seconds - worker - driverSeconds),
      driverSeconds,
      epochs,
      headers.sum(ResultLayout.StateBytes).toLong,
      losses,
      elapsed,
      headers.slot(ResultLayout.Started).zip(headers.slot(ResultLayout.SolverNanos)).toSeq.map { case (start, nanos) =>
        WorkerTime(start - started, nanos * 1e-9)
      },
      note)
    made += record
    completed(record)
    record
  }

  private def elapsed: Double = ResultLayout.now() - started
}
