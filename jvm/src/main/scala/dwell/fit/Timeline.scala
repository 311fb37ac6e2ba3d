package dwell.fit

import scala.collection.mutable

import dwell.jni.ResultHeader
import dwell.record.{RoundRecord, WorkerTime}

/**
 * The records of the rounds of one fit, from the reports of its workers.
 *
 * @param completed
 *   called with each record except the one of the start
 */
private[dwell] final class Timeline(completed: RoundRecord => Unit) {
  private val created = ResultHeader.now()
  private var started = created
  private val made = mutable.ArrayBuffer.empty[RoundRecord]
  private var count = 0

  /** The records so far, in the order of the rounds. */
  def records: Seq[RoundRecord] = made.toSeq

  /** Rounds so far, without round 0. */
  def rounds: Int = count

  /** Records round 0, before any work. */
  def begin(objective: Double, gap: Double): Unit =
    made += RoundRecord(0, objective, gap, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0, elapsed, Seq.empty)

  /** Continues the rounds of another algorithm. */
  def follow(earlier: Seq[RoundRecord]): Unit = {
    made ++= earlier
    count = made.last.round
    started = created - made.last.elapsed
  }

  /**
   * Continues the rounds of `attempt` from the model of round `from`. Records of later rounds are dropped; records of
   * earlier attempts up to `from` are kept.
   */
  def goOn(from: Int, attempt: Attempt): Unit = {
    val later = made.count(_.round > from)
    made.remove(made.length - later, later)
    val earlier = attempt.earlier.filter(record => record.round > made.last.round && record.round <= from)
    if (earlier.nonEmpty) {
      made ++= earlier
      started = created - attempt.seconds
    }
    count = from
  }

  /**
   * Records a round that is over.
   *
   * @param objective
   *   F after the round
   * @param gap
   *   bound of the suboptimality after the round
   * @param clock
   *   `System.nanoTime` at the start of the round
   * @param driverSeconds
   *   the leader's time. What it adds while the slowest worker is at work counts as that worker's
   * @param epochs
   *   local work
   * @param losses
   *   partitions that had lost their state when the round began
   * @param earlierWork
   *   seconds in the local solver, of the slowest worker in each exchange of the round that came before the exchange of `headers`
   * @param note
   *   a remark for the reader of the report
   */
  def add(
      objective: Double,
      gap: Double,
      clock: Long,
      driverSeconds: Double,
      epochs: Double,
      headers: ResultHeaders,
      losses: Int = 0,
      earlierWork: Double = 0.0,
      note: String = ""): RoundRecord = {
    val seconds = (System.nanoTime() - clock) * 1e-9
    val worker = math.min(seconds, earlierWork + headers.largest(ResultHeader.SOLVER_NANOS) * 1e-9)
    val leader = math.min(seconds - worker, driverSeconds)
    val record = RoundRecord(
      rounds + 1,
      objective,
      gap,
      seconds,
      worker,
      seconds - worker - leader,
      leader,
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

/** The text of a fit's progress. */
private[dwell] object Timeline {

  /** The line that Spark's UI shows for a fit after so many rounds. */
  def describe(uid: String, rounds: Int, objective: Double, gap: Double): String =
    f"dwell $uid: $rounds%d rounds, objective $objective%.6g, gap $gap%.2e"
}
