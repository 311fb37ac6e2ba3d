package dwell.solver.cd.leader

import dwell.record.RoundRecord

/**
 * What rounds tell of those to come.
 *
 * @param rounds
 *   so far, with the one of the start unless they follow others
 * @param known
 *   the lower bound before them
 */
private[solver] final case class Pace(rounds: Seq[RoundRecord], known: Double = 0.0) {
  import Pace._

  /** Whether the gap has not fallen to a hundredth in four rounds. */
  def failsTrial: Boolean = hasFallen(TrialRounds, TrialFactor).contains(false)

  /**
   * Whether the gap has not halved in ten rounds, and at their pace is not at most `aim` after so many more. Where ten rounds ago there was
   * no bound, the gap tells nothing, and the rounds are slow if they lowered the objective by half of what the ten before them did, or
   * more.
   */
  def isSlow(aim: Double, more: Int): Boolean =
    if (rounds.takeRight(SlowRounds + 1).headOption.exists(isBounded))
      hasFallen(SlowRounds, 0.5).contains(false) && !reaches(aim, more)
    else {
      val objectives = rounds.takeRight(2 * SlowRounds + 1).map(_.objective)
      objectives.size > 2 * SlowRounds &&
      objectives(SlowRounds) - objectives.last >= (objectives.head - objectives(SlowRounds)) / 2.0
    }

  private def isBounded(round: RoundRecord): Boolean =
    round.objective - round.gap - known > CdLeader.Rounding * round.objective

  /** Whether the last ten rounds halved the gap, and at their pace it is at most `aim` after so many more. */
  def arrives(aim: Double, more: Int): Boolean = hasFallen(SlowRounds, 0.5).contains(true) && reaches(aim, more)

  private def reaches(aim: Double, more: Int): Boolean = {
    val gaps = rounds.takeRight(SlowRounds + 1).map(_.gap)
    gaps.last < gaps.head && SlowRounds * math.log(gaps.last / aim) <= more * math.log(gaps.head / gaps.last)
  }

  /** Whether the gap has fallen to `factor` in so many rounds; None with fewer ones. */
  private def hasFallen(among: Int, factor: Double): Option[Boolean] = {
    val gaps = rounds.takeRight(among + 1).map(_.gap)
    if (gaps.size > among) Some(gaps.last <= factor * gaps.head) else None
  }
}

private[solver] object Pace {

  /** Rounds in which the gap falls by half where coordinate descent suits the problem. */
  private val SlowRounds = 10

  /** So many rounds with so much local work are a trial, whose end no measured time decides. */
  val TrialRounds = 4
  val TrialEpochs = 4.0

  /**
   * Where rows are nearly orthogonal, a trial lowers the gap ten thousand times and more. On real text, where many rows are alike, it
   * lowers it thirteen times.
   */
  private val TrialFactor = 0.01
}
