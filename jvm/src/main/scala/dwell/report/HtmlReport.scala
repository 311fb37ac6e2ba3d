package dwell.report

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.Locale

/**
 * Reports as a page that needs nothing else: no network, no script, readable in light and in dark.
 *
 * Where Spark's own code trained there are no rounds to show, and the page says so.
 */
private[report] object HtmlReport {

  def write(report: FitReport, path: Path): Unit = save(path, s"Fit of ${report.uid}", one(report))

  def compare(reports: Seq[(String, FitReport)], path: Path): Unit =
    save(path, s"${reports.size} fits side by side", several(reports))

  private def one(report: FitReport): String =
    facts(report) + (if (report.rounds.isEmpty) "" else charts(report) + rounds(report))

  private def charts(report: FitReport): String = {
    val after = report.rounds
    val made = after.filter(_.round > 0)
    def progress(x: RoundRecord => Double) = Seq(Series("", after.map(r => x(r) -> r.relativeGap)))
    def values(x: RoundRecord => Double) =
      Seq(
        Series("objective", after.map(r => x(r) -> r.objective)),
        Series("lower bound", after.map(r => x(r) -> (r.objective - r.gap))))
    val workers = (0 until report.numPartitions).map { k =>
      Row(s"worker $k", made.flatMap(_.workers.lift(k)).map(w => w.start -> (w.start + w.seconds)))
    }
    Seq(
      "Relative gap against seconds" -> Chart.lines("seconds", "relative gap", progress(_.elapsed), log = true),
      "Relative gap against rounds" -> Chart.lines("round", "relative gap", progress(_.round.toDouble), log = true),
      "Objective against seconds" -> Chart.lines("seconds", "objective", values(_.elapsed), log = false),
      "Objective against rounds" -> Chart.lines("round", "objective", values(_.round.toDouble), log = false),
      "Where the time of a round goes" -> Chart.stacked(
        "round",
        "seconds",
        Seq("slowest worker", "overhead", "adding and the leader's step"),
        made.map(r => Seq(r.workerSeconds, r.overheadSeconds, r.driverSeconds))),
      "Local work, and states lost" -> Chart.lines(
        "round",
        "epochs, partitions",
        Seq(
          Series("epochs", made.map(r => r.round.toDouble -> r.localWork)),
          Series("states lost", made.map(r => r.round.toDouble -> r.stateLosses.toDouble))),
        log = false),
      "Workers at work (by their own clocks); the rest is waiting" -> Chart.rows("seconds", workers))
      .map { case (title, chart) => figure(title, chart) }
      .mkString("<main>", "", "</main>")
  }

  private def several(reports: Seq[(String, FitReport)]): String = {
    val withRounds = reports.filter(_._2.rounds.nonEmpty)
    def lines(x: RoundRecord => Double) = withRounds.map { case (name, r) =>
      Series(name, r.rounds.map(n => x(n) -> n.relativeGap))
    }
    val split = withRounds.map { case (_, r) =>
      Seq(
        r.flattenSeconds,
        r.rounds.map(_.workerSeconds).sum,
        r.rounds.map(_.overheadSeconds).sum,
        r.rounds.map(_.driverSeconds).sum)
    }
    val table = withRounds.zipWithIndex.map { case ((name, r), i) =>
      val cells = Seq(
        (i + 1).toString,
        name,
        Seq(r.solver, r.orientation, r.aggregation).filter(_.nonEmpty).mkString(", "),
        r.rounds.last.round.toString,
        number("%.3e", r.relativeGap),
        number("%.2f", r.totalSeconds))
      cells.map(c => s"<td>${Chart.escaped(c)}</td>").mkString("<tr>", "", "</tr>")
    }
    val without = reports.filter(_._2.rounds.isEmpty).map { case (name, r) =>
      s"<p>${Chart.escaped(name)}: ${Chart.escaped(r.reason.getOrElse("no rounds"))} (${number("%.2f", r.totalSeconds)} s)</p>"
    }
    val figures = Seq(
      figure(
        "Relative gap against seconds of the rounds",
        Chart.lines("seconds", "relative gap", lines(_.elapsed), log = true)),
      figure("Relative gap against rounds", Chart.lines("round", "relative gap", lines(_.round.toDouble), log = true)),
      figure(
        "Where the time goes",
        Chart.stacked(
          "fit",
          "seconds",
          Seq("reading and flattening", "slowest worker", "overhead", "adding and the leader's step"),
          split)))
    figures.mkString("<main>", "", "</main>") +
      table.mkString(
        "<table><tr><th>fit</th><th>name</th><th>by</th><th>rounds</th><th>relative gap</th><th>total s</th></tr>",
        "",
        "</table>") + without.mkString
  }

  private def facts(report: FitReport): String =
    report.toText.linesIterator
      .takeWhile(_ != RoundRecord.header)
      .map(line => s"<p>${Chart.escaped(line)}</p>")
      .mkString("<header>", "", "</header>")

  private def rounds(report: FitReport): String =
    s"<details><summary>All rounds</summary><pre>${Chart.escaped(
        (RoundRecord.header +: report.rounds.map(_.toLine)).mkString("\n"))}</pre></details>"

  private def figure(title: String, chart: String): String =
    s"<figure><figcaption>${Chart.escaped(title)}</figcaption>$chart</figure>"

  private def number(format: String, v: Double): String = String.format(Locale.ROOT, format, v: java.lang.Double)

  private def save(path: Path, title: String, body: String): Unit = {
    val page =
      s"""<!DOCTYPE html>
         |<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
         |<title>${Chart.escaped(title)}</title><style>$Style</style></head>
         |<body><h1>${Chart.escaped(title)}</h1>$body</body></html>
         |""".stripMargin
    Files.write(path, page.getBytes(UTF_8))
  }

  /** The colours of the lines are those of Okabe and Ito, which the colour-blind can tell apart. */
  private val Style =
    """
      |:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b636d; --grid: #dfe3e8; --idle: #eef1f4; --page: #ffffff;
      |  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #b8860b; --c5: #6b7280; }
      |@media (prefers-color-scheme: dark) {
      |  :root { --text: #e6e9ed; --soft: #a3abb5; --grid: #333a42; --idle: #262c33; --page: #14181d;
      |    --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79b; --c3: #e19ac2; --c4: #f0e442; --c5: #9ca3af; } }
      |body { margin: 0 auto; max-width: 1400px; padding: 1.2rem; background: var(--page); color: var(--text);
      |  font: 15px/1.45 system-ui, sans-serif; }
      |h1 { font-size: 1.3rem; } header p { margin: .15rem 0; color: var(--soft); overflow-wrap: anywhere; }
      |main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1.2rem; margin: 1.2rem 0; }
      |figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; } svg { width: 100%; height: auto; }
      |.grid { stroke: var(--grid); } .axis { stroke: var(--soft); } .tick { fill: var(--soft); font-size: 11px; }
      |.name { fill: var(--text); font-size: 12px; } .idle { fill: var(--idle); }
      |.s0 { --c: var(--c0); } .s1 { --c: var(--c1); } .s2 { --c: var(--c2); } .s3 { --c: var(--c3); } .s4 { --c: var(--c4); }
      |.s5 { --c: var(--c5); } .line polyline { fill: none; stroke: var(--c); stroke-width: 1.8; } .line circle { fill: var(--c); }
      |.bar { fill: var(--c); } .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding-left: 4.5rem; font-size: 13px; }
      |.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em; background: var(--c); }
      |.dashed polyline { stroke-dasharray: 7 4; }
      |.dashed.key::before { background: repeating-linear-gradient(90deg, var(--c) 0 4px, transparent 4px 7px); }
      |table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--grid); }
      |pre { overflow-x: auto; font-size: 12px; }
      |""".stripMargin
}
