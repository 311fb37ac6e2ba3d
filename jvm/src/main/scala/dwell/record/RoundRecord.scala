package dwell.record

/**
 * One round of a fit.
 *
 * @param round
 *   0 is the start, before any local work
 * @param objective
 *   of a linear model F, mean loss plus penalty in units of the label, after the round; with model averaging as the workers
 *   met it on their way. Of topics as in [[FitReport]], at the topics that the round began with, and NaN at the start
 * @param gap
 *   F minus the best lower bound that any certificate has given so far: an upper bound of F - F*. NaN where the rounds give
 *   none: in model averaging, in L-BFGS where there is no bound or it was asked for, and of topics
 * @param seconds
 *   wall-clock time of the round, which is workerSeconds + overheadSeconds + driverSeconds
 * @param workerSeconds
 *   time inside the local solver, of the slowest worker
 * @param overheadSeconds
 *   scheduling, serialisation and transport: the rest of the round
 * @param driverSeconds
 *   time of the leader: adding the updates, and its step
 * @param localWork
 *   epochs over the local coordinates in this round
 * @param stateBytes
 *   memory that the workers keep between rounds
 * @param stateLosses
 *   partitions that had lost their state when this round asked for it
 * @param elapsed
 *   seconds from the start of the rounds to the end of this one
 * @param workers
 *   when each worker was at work; none in round 0
 * @param note
 *   other events of the round, such as a step size that was halved; empty if there are none
 */
final case class RoundRecord(
    round: Int,
    objective: Double,
    gap: Double,
    seconds: Double,
    workerSeconds: Double,
    overheadSeconds: Double,
    driverSeconds: Double,
    localWork: Double,
    stateBytes: Long,
    stateLosses: Int,
    elapsed: Double,
    workers: Seq[WorkerTime],
    note: String = "") {

  /** Bound of the relative suboptimality (F - F*)/F; NaN where there is none. */
  def relativeGap: Double = RoundRecord.relativeGap(gap, objective)

  /** The round as a line under [[RoundRecord.header]]. */
  def toLine: String =
    f"$round%5d $objective%16.10g $gap%10.3e $relativeGap%10.3e ${fixed(seconds, 3)}%8s ${fixed(workerSeconds, 3)}%8s " +
      f"${fixed(overheadSeconds, 3)}%8s ${fixed(driverSeconds, 3)}%8s ${fixed(localWork, 2)}%7s $stateLosses%4d" +
      (if (note.isEmpty) "" else s"  $note")

  /** Seconds or epochs. A number that no clock gives does not take hundreds of digits. */
  private def fixed(v: Double, digits: Int): String = s"%.$digits${if (math.abs(v) < 1e9) "f" else "e"}".format(v)
}

object RoundRecord {

  /** Names of the columns of a line. */
  val header: String =
    f"${"round"}%5s ${"objective"}%16s ${"gap"}%10s ${"rel. gap"}%10s ${"seconds"}%8s ${"worker"}%8s " +
      f"${"overhead"}%8s ${"driver"}%8s ${"epochs"}%7s ${"lost"}%4s"

  /** The header and a line for each round. */
  private[dwell] def table(rounds: Seq[RoundRecord]): Seq[String] = header +: rounds.map(_.toLine)

  /** No gap is none relative to any objective, 0 included. */
  private[dwell] def relativeGap(gap: Double, objective: Double): Double = if (gap == 0.0) 0.0 else gap / objective
}
