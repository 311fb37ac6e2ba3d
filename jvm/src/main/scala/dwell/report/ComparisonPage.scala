package dwell.report

import java.nio.file.Path

import dwell.record.{FitPhases, RoundRecord}
import dwell.report.Markup.{escaped, number}

/**
 * A fit on the page of a comparison.
 *
 * @param by
 *   who trained it and how; may be empty
 * @param rounds
 *   at least one
 * @param relativeGap
 *   bound of the relative suboptimality of its model; NaN where there is none
 */
private[dwell] final case class ComparedFit(
    name: String,
    by: String,
    rounds: Seq[RoundRecord],
    relativeGap: Double,
    phases: FitPhases)

/** A fit without rounds, which a comparison only names. */
private[dwell] final case class UnchartedFit(name: String, reason: String, totalSeconds: Double)

/** Several fits on the same axes, as a page. */
private[dwell] object ComparisonPage {

  def write(path: Path, fits: Seq[ComparedFit], uncharted: Seq[UnchartedFit] = Seq.empty): Unit = {
    val remarks = uncharted.map(f => s"${f.name}: ${f.reason} (${number("%.2f", f.totalSeconds)} s)")
    val body = HtmlPage.figures(charts(fits)) + table(fits) + HtmlPage.paragraphs(remarks)
    HtmlPage.write(path, HtmlPage(s"${fits.size + uncharted.size} fits side by side", body))
  }

  private def charts(fits: Seq[ComparedFit]): Seq[(String, String)] = {
    def gaps(x: RoundRecord => Double) = fits.map(f => Series(f.name, f.rounds.map(r => x(r) -> r.relativeGap)))
    Seq(
      "Where the time of a fit goes" -> PhaseChart.ofFits(fits.map(_.phases)),
      "Relative gap against seconds of the rounds" ->
        Chart.lines("seconds", "relative gap", gaps(_.elapsed), log = true),
      "Relative gap against rounds" -> Chart.lines("round", "relative gap", gaps(_.round.toDouble), log = true))
  }

  private def table(fits: Seq[ComparedFit]): String = {
    val rows = fits.zipWithIndex.map { case (f, i) =>
      val cells = Seq(
        (i + 1).toString,
        f.name,
        f.by,
        f.rounds.last.round.toString,
        number("%.3e", f.relativeGap),
        number("%.2f", f.phases.total))
      cells.map(c => s"<td>${escaped(c)}</td>").mkString("<tr>", "", "</tr>")
    }
    rows.mkString(
      "<table><tr><th>fit</th><th>name</th><th>by</th><th>rounds</th><th>relative gap</th><th>total s</th></tr>",
      "",
      "</table>")
  }
}
