package dwell.report

import dwell.record.RoundRecord

/** The rounds that a report lists one by one: all, or of very many the first, the last, and others at even distances. */
private[report] object ListedRounds {

  /** A megabyte of text, a few of JSON. */
  val Most = 10000

  def apply(rounds: Seq[RoundRecord]): Seq[RoundRecord] =
    if (rounds.size <= Most) rounds
    else {
      val all = rounds.toIndexedSeq
      (0 until Most).map(i => all((i * (all.size - 1L) / (Most - 1)).toInt))
    }

  /** The header and a line for each, after a line that says so where some are left out. */
  def table(rounds: Seq[RoundRecord]): Seq[String] =
    (if (rounds.size <= Most) Nil else Seq(s"$Most of ${rounds.size} rounds")) ++ RoundRecord.table(apply(rounds))
}
