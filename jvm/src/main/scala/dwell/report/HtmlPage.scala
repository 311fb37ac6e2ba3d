package dwell.report

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import dwell.report.Markup.escaped

/** A page that needs nothing else: no network, no script, readable in light and in dark. */
private[report] object HtmlPage {

  /** A page with this heading. */
  def apply(title: String, body: String): String =
    s"""<!DOCTYPE html>
       |<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
       |<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
       |<title>${escaped(title)}</title><style>$Style</style></head>
       |<body><h1>${escaped(title)}</h1>$body</body></html>
       |""".stripMargin

  /** Writes a page; an existing file is replaced. */
  def write(path: Path, page: String): Unit = Files.write(path, page.getBytes(UTF_8))

  /** A table of names and what they are. */
  def facts(rows: Seq[(String, String)]): String =
    rows
      .map { case (name, text) => s"<tr><th>${escaped(name)}</th><td>${escaped(text)}</td></tr>" }
      .mkString("<table class=\"facts\">", "", "</table>")

  /** Charts, each an SVG, under their titles. */
  def figures(charts: Seq[(String, String)]): String =
    charts
      .map { case (title, chart) => s"<figure><figcaption>${escaped(title)}</figcaption>$chart</figure>" }
      .mkString("<main>", "", "</main>")

  /** Each text a paragraph. */
  def paragraphs(texts: Seq[String]): String = texts.map(text => s"<p>${escaped(text)}</p>").mkString

  /** The lines have the colours of Okabe and Ito, which the colour-blind can tell apart. */
  private val Style =
    """
      |:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b636d; --grid: #dfe3e8; --idle: #eef1f4; --rest: #c3cad2; --page: #ffffff;
      |  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #b8860b; --c5: #6b7280; }
      |@media (prefers-color-scheme: dark) {
      |  :root { --text: #e6e9ed; --soft: #a3abb5; --grid: #333a42; --idle: #262c33; --rest: #454e58; --page: #14181d;
      |    --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79b; --c3: #e19ac2; --c4: #f0e442; --c5: #9ca3af; } }
      |body { margin: 0 auto; max-width: 1400px; padding: 1.2rem; background: var(--page); color: var(--text);
      |  font: 15px/1.45 system-ui, sans-serif; }
      |h1 { font-size: 1.3rem; } .facts th { font-weight: 600; white-space: nowrap; vertical-align: top; }
      |.facts td { color: var(--soft); overflow-wrap: anywhere; }
      |main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 1.2rem; margin: 1.2rem 0; }
      |figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; } svg { width: 100%; height: auto; }
      |.grid { stroke: var(--grid); } .axis { stroke: var(--soft); } .tick { fill: var(--soft); font-size: 11px; }
      |.name { fill: var(--text); font-size: 12px; } .idle { fill: var(--idle); }
      |.s0 { --c: var(--c0); } .s1 { --c: var(--c1); } .s2 { --c: var(--c2); } .s3 { --c: var(--c3); } .s4 { --c: var(--c4); }
      |.s5 { --c: var(--c5); } .rest { --c: var(--rest); } .line polyline { fill: none; stroke: var(--c); stroke-width: 1.8; } .line circle { fill: var(--c); }
      |.spread { stroke: var(--c); }
      |.bar { fill: var(--c); } .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding-left: 4.5rem; font-size: 13px; }
      |.key::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em; background: var(--c); }
      |.dashed polyline { stroke-dasharray: 7 4; }
      |.dashed.key::before { background: repeating-linear-gradient(90deg, var(--c) 0 4px, transparent 4px 7px); }
      |table { border-collapse: collapse; } th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--grid); }
      |pre { overflow-x: auto; font-size: 12px; }
      |""".stripMargin
}
