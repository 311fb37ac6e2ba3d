package dwell.fit

import scala.collection.mutable

import dwell.jni.ResultHeader
import dwell.report.{RoundRecord, WorkerTime}

/**
 * The records of the rounds of one fit, made of what its workers report.
 *
 * @param completed
 *   called with each record but that of the start
 */
private[dwell] final class Timeline(completed: RoundRecord => Unit) {
  private val created = ResultHeader.now()
  private var started = created
  private val made = mutable.ArrayBuffer.empty[RoundRecord]
  private var count = 0

  def records: Seq[RoundRecord] = made.toSeq

  /** Rounds so far, that of the start not counted. */
  def rounds: Int = count

  /** Round 0, before any work. */
  def begin(objective: Double, gap: Double): Unit =
    made += RoundRecord(0, objective, gap, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0, elapsed, Seq.empty)

  /**
   * The rounds of `attempt` go on from the model of round `from`. Those after it are lost; those before it were made by this
   * attempt or by earlier ones.
   */
  def goOn(from: Int, attempt: Attempt): Unit = {
    made.filterInPlace(_.round <= from)
    val earlier = attempt.earlier.filter(record => record.round > made.last.round && record.round <= from)
    if (earlier.nonEmpty) {
      made ++= earlier
      started = created - attempt.seconds
    }
    count = from
  }

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
      headers: ResultHeaders,
      losses: Int = 0,
      note: String = ""): RoundRecord = {
    val seconds = (System.nanoTime() - clock) * 1e-9
    val worker = headers.largest(ResultHeader.SOLVER_NANOS) * 1e-9
    val record = RoundRecord(
      rounds + 1,
      objective,
      gap,
      seconds,
      worker,
      math.max(0.0, seconds - worker - driverSeconds),
      driverSeconds,
      epochs,
      headers.sum(ResultHeader.STATE_BYTES).toLong,
      losses,
      elapsed,
      headers.slot(ResultHeader.STARTED).zip(headers.slot(ResultHeader.SOLVER_NANOS)).toSeq.map { case (start, nanos) =>
        WorkerTime(start - started, nanos * 1e-9)
      },
      note)
    made += record
    count = record.round
    completed(record)
    record
  }

  private def elapsed: Double = ResultHeader.now() - started
}

private[dwell] object Timeline {

  /** What Spark's UI shows of a fit after so many rounds. */
  def describe(uid: String, rounds: Int, objective: Double, gap: Double): String =
    f"dwell $uid: $rounds%d rounds, objective $objective%.6g, gap $gap%.2e"
}
