package dwell.report

import java.io.StringReader
import java.nio.file.{Files, Path}
import java.util.Locale
import javax.xml.parsers.DocumentBuilderFactory

import org.xml.sax.InputSource

import dwell.LimitedSuite
import dwell.record.{FitFacts, FitPhases, HeldBytes, RoundRecord, WorkerTime}

/** Pages are complete, well formed and the same in every locale. Their looks were checked in a browser. */
class HtmlReportSuite extends LimitedSuite {

  private def report(numRounds: Int, uid: String = "logreg_1"): LinearFitReport = {
    val rounds = (0 to numRounds).map { i =>
      val workers = if (i == 0) Seq.empty else Seq(WorkerTime(i - 1.0, 0.5), WorkerTime(i - 0.9, 0.25))
      RoundRecord(
        i,
        1.0 + math.pow(0.5, i),
        math.pow(0.5, i),
        1.0,
        0.5,
        0.4,
        0.1,
        2.0,
        800L,
        i % 7 / 6,
        i.toDouble,
        workers)
    }
    LinearFitReport(
      uid,
      FitFacts(
        algorithm = "cocoa",
        orientation = "dual",
        orientationReason = "because <it> & that",
        aggregation = "gang",
        aggregationReason = "slots",
        restarts = 1,
        rounds = rounds,
        objective = rounds.last.objective,
        dual = 1.0,
        tolerance = 1e-4,
        converged = true,
        numRows = 10L,
        numFeatures = 5,
        nonzeros = 40L,
        nonzerosPerPartition = Seq(20L, 20L),
        placement = "rows left where Spark has them",
        held = HeldBytes(480L, 960L),
        phases = FitPhases.of(total = 9.0 + numRounds, reading = 1.25, setUp = 0.25, rounds, model = 0.5)))
  }

  private def page(write: String => Unit): String = {
    val path: Path = Files.createTempFile("dwell", ".html")
    try {
      write(path.toString)
      Files.readString(path)
    } finally Files.delete(path)
  }

  private val bySpark =
    SparkFitReport(
      "linReg_2",
      "regParam is 0",
      FitFacts(numFeatures = 5, phases = FitPhases.of(total = 3.0, reading = 0.5, spark = 2.25)))

  /** Name, left edge and width of each part of a bar along the axis. */
  private def boxes(chart: org.w3c.dom.Document): Seq[(String, Double, Double)] = {
    val paths = chart.getElementsByTagName("path")
    (0 until paths.getLength).map(paths.item).map { path =>
      val Array(x, width) = "M([0-9.]+) [0-9.]+h([0-9.]+)v.*".r
        .findFirstMatchIn(path.getAttributes.getNamedItem("d").getNodeValue)
        .map(m => Array(m.group(1).toDouble, m.group(2).toDouble))
        .get
      (path.getFirstChild.getTextContent, x, width)
    }
  }

  /** The charts of a page, parsed as XML. */
  private def charts(page: String): Seq[org.w3c.dom.Document] =
    "(?s)<svg.*?</svg>".r.findAllIn(page).toSeq.map { svg =>
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)))
    }

  for (numRounds <- Seq(0, 1, 12, 400))
    test(s"a report of $numRounds rounds has eight charts, none with a number that is none") {
      val html = page(report(numRounds).writeHtml)
      assert(charts(html).size == 8)
      assert(!html.contains("NaN") && !html.contains("Infinity"))
      assert(html.contains("because &lt;it&gt; &amp; that") && !html.contains("<it>"))
      assert(!html.contains("http:") && !html.contains("https:") && !html.contains("<script"))
      assert(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""))
    }

  test("the lines have the rounds' points, in order, and the workers their bars") {
    val html = page(report(12).writeHtml)
    val documents = charts(html)
    def points(chart: Int): Seq[Double] =
      documents(chart)
        .getElementsByTagName("polyline")
        .item(0)
        .getAttributes
        .getNamedItem("points")
        .getNodeValue
        .split(' ')
        .toSeq
        .map(_.split(',')(1).toDouble)
    val gaps = points(1)
    assert(gaps.size == 13 && gaps == gaps.sorted, "the gap falls, so y in pixels rises")
    val paths = documents.last.getElementsByTagName("path")
    val bars = (0 until paths.getLength).map(paths.item(_).getAttributes.getNamedItem("d").getNodeValue.count(_ == 'M'))
    assert(bars == Seq(12, 12))
  }

  test("a gap of 0 is not on the scale, and does not break it") {
    val r = report(5)
    val html = page(r.copy(facts = r.facts.copy(rounds = r.rounds.init :+ r.rounds.last.copy(gap = 0.0))).writeHtml)
    assert(charts(html).size == 8 && !html.contains("NaN"))
  }

  test("without a bound there is no chart of gaps, and no line of a bound") {
    val r = report(5)
    val html = page(r.copy(facts = r.facts.copy(rounds = r.rounds.map(_.copy(gap = Double.NaN)))).writeHtml)
    assert(charts(html).size == 6 && !html.contains("Relative gap against") && !html.contains("lower bound"))
  }

  test("numbers have a point in every locale") {
    val before = Locale.getDefault
    val expected = page(FitReport.compare("a" -> report(3)).writeHtml)
    Locale.setDefault(Locale.GERMANY)
    try assert(page(FitReport.compare("a" -> report(3)).writeHtml) == expected)
    finally Locale.setDefault(before)
  }

  test("several fits on the same axes, and those without rounds by name") {
    val html = page(FitReport.compare("one" -> report(4), "two" -> report(9), "spark" -> bySpark).writeHtml)
    assert(charts(html).size == 3)
    assert(Seq("one", "two", "spark: regParam is 0 (3.00 s)").forall(html.contains))
    assert(charts(html)(1).getElementsByTagName("polyline").getLength == 2)
  }

  test("where Spark's own code trained the page says so, and has one chart: the time of the whole fit") {
    val html = page(bySpark.writeHtml)
    assert(html.contains("regParam is 0") && charts(html).size == 1)
    assert(boxes(charts(html).head).map(_._1) == Seq("reading", "Spark's own code", "rest"))
  }

  test("the first chart is the whole fit: its parts follow one another, as long as they took") {
    val html = page(report(12).writeHtml)
    val parts = boxes(charts(html).head)
    assert(html.indexOf("Where the time of the fit goes") < html.indexOf("Relative gap against seconds"))
    assert(parts.map(_._1) == Seq("reading", "set-up", "workers", "leader", "transport", "model", "rest"))
    // 21 seconds on 552 pixels; a pixel has one decimal.
    val seconds = Seq(1.25, 0.25, 6.5, 1.3, 5.2, 0.5, 6.0)
    parts.zip(seconds).foreach { case ((name, _, width), s) =>
      assert(math.abs(width - s * 552.0 / 21.0) < 0.11, s"$name: $width pixels")
    }
    parts.zip(parts.tail).foreach { case ((_, x, width), (name, next, _)) =>
      assert(math.abs(x + width - next) < 0.11, name)
    }
    val legend = "<span class=\"key ([^\"]*)\">([^<]*)</span>".r
    val keys =
      legend.findAllMatchIn(html.substring(0, html.indexOf("</figure>"))).map(m => (m.group(2), m.group(1))).toSeq
    assert(keys.map(_._1) == parts.map(_._1) && keys.map(_._2).distinct.size == keys.size)
  }
}
