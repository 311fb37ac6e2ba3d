package dwell.report

import dwell.record.{FitPhases, RoundRecord, SearchFacts}

/** One fit as a page: its summary, where its seconds go and, where there are rounds, their charts and their table. */
private[report] object FitPage {

  /**
   * @param facts
   *   names and texts of what is known of the fit as a whole
   * @param workers
   *   partitions of the fit
   * @param search
   *   that has chosen the model, if there was one
   */
  def apply(
      uid: String,
      facts: Seq[(String, String)],
      phases: FitPhases,
      rounds: Seq[RoundRecord],
      workers: Int,
      search: Option[SearchFacts]): String = {
    val header = s"<header>${HtmlPage.facts(facts)}</header>" + search.fold("")(SearchSection.html)
    val whole = "Where the time of the fit goes" -> PhaseChart.ofFit(phases)
    val details =
      if (rounds.isEmpty) HtmlPage.figures(Seq(whole))
      else HtmlPage.figures(whole +: charts(rounds, workers)) + table(rounds)
    HtmlPage(s"Fit of $uid", header + details)
  }

  private def charts(rounds: Seq[RoundRecord], workers: Int): Seq[(String, String)] = {
    val afterStart = rounds.filter(_.round > 0)
    // Topics have no bound, and an empty chart says nothing.
    val bounded = rounds.exists(r => !r.gap.isNaN && !r.gap.isInfinite)
    def gaps(x: RoundRecord => Double) = Seq(Series("", rounds.map(r => x(r) -> r.relativeGap)))
    def objectives(x: RoundRecord => Double) =
      Series("objective", rounds.map(r => x(r) -> r.objective)) +:
        (if (bounded) Seq(Series("lower bound", rounds.map(r => x(r) -> (r.objective - r.gap)))) else Seq.empty)
    val work = (0 until workers).map { k =>
      Row(s"worker $k", afterStart.flatMap(_.workers.lift(k)).map(w => w.start -> (w.start + w.seconds)))
    }
    val which = if (workers > Chart.MostRows) s", the ${Chart.MostRows} busiest of $workers" else ""
    val ofGaps = Seq(
      "Relative gap against seconds" -> Chart.lines("seconds", "relative gap", gaps(_.elapsed), log = true),
      "Relative gap against rounds" -> Chart.lines("round", "relative gap", gaps(_.round.toDouble), log = true))
    (if (bounded) ofGaps else Seq.empty) ++ Seq(
      "Objective against seconds" -> Chart.lines("seconds", "objective", objectives(_.elapsed), log = false),
      "Objective against rounds" -> Chart.lines("round", "objective", objectives(_.round.toDouble), log = false),
      "Where the time of a round goes" -> PhaseChart.ofRounds(afterStart),
      "Local work, and states lost" -> Chart.lines(
        "round",
        "epochs, partitions",
        Seq(
          Series("epochs", afterStart.map(r => r.round.toDouble -> r.localWork)),
          Series("states lost", afterStart.map(r => r.round.toDouble -> r.stateLosses.toDouble))),
        log = false),
      s"Workers at work (by their own clocks)$which; the rest is waiting" -> Chart.rows("seconds", work))
  }

  private def table(rounds: Seq[RoundRecord]): String = {
    val lines = ListedRounds.table(rounds).mkString("\n")
    s"<details><summary>The rounds</summary><pre>${Markup.escaped(lines)}</pre></details>"
  }
}
