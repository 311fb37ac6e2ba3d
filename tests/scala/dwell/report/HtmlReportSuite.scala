package dwell.report

import java.io.StringReader
import java.nio.file.{Files, Path}
import java.util.Locale
import javax.xml.parsers.DocumentBuilderFactory

import org.scalatest.funsuite.AnyFunSuite
import org.xml.sax.InputSource

/** Pages are complete, well formed and the same in every locale. Their looks were checked in a browser. */
class HtmlReportSuite extends AnyFunSuite {

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
      "cocoa",
      "dual",
      "because <it> & that",
      "gang",
      "slots",
      1,
      "native",
      rounds,
      rounds.last.objective,
      1.0,
      rounds.last.gap,
      1e-4,
      true,
      0.0,
      10L,
      5,
      40L,
      Seq(20L, 20L),
      1.5,
      9.0)
  }

  private def page(write: String => Unit): String = {
    val path: Path = Files.createTempFile("dwell", ".html")
    try {
      write(path.toString)
      Files.readString(path)
    } finally Files.delete(path)
  }

  /** The charts of a page, parsed as XML. */
  private def charts(page: String): Seq[org.w3c.dom.Document] =
    "(?s)<svg.*?</svg>".r.findAllIn(page).toSeq.map { svg =>
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)))
    }

  for (numRounds <- Seq(0, 1, 12, 400))
    test(s"a report of $numRounds rounds has seven charts, none with a number that is none") {
      val html = page(report(numRounds).writeHtml)
      assert(charts(html).size == 7)
      assert(!html.contains("NaN") && !html.contains("Infinity"))
      assert(html.contains("because &lt;it&gt; &amp; that") && !html.contains("<it>"))
      assert(!html.contains("http") && !html.contains("<script"))
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
    val gaps = points(0)
    assert(gaps.size == 13 && gaps == gaps.sorted, "the gap falls, so y in pixels rises")
    val paths = documents.last.getElementsByTagName("path")
    val bars = (0 until paths.getLength).map(paths.item(_).getAttributes.getNamedItem("d").getNodeValue.count(_ == 'M'))
    assert(bars == Seq(12, 12))
  }

  test("a gap of 0 is not on the scale, and does not break it") {
    val r = report(5)
    val html = page(r.copy(rounds = r.rounds.init :+ r.rounds.last.copy(gap = 0.0)).writeHtml)
    assert(charts(html).size == 7 && !html.contains("NaN"))
  }

  test("numbers have a point in every locale") {
    val before = Locale.getDefault
    val expected = page(FitReport.compare("a" -> report(3)).writeHtml)
    Locale.setDefault(Locale.GERMANY)
    try assert(page(FitReport.compare("a" -> report(3)).writeHtml) == expected)
    finally Locale.setDefault(before)
  }

  test("several fits on the same axes, and those without rounds by name") {
    val bySpark = SparkFitReport("linReg_2", "regParam is 0", 1e-6, 5, 3.0)
    val html = page(FitReport.compare("one" -> report(4), "two" -> report(9), "spark" -> bySpark).writeHtml)
    assert(charts(html).size == 3)
    assert(Seq("one", "two", "spark: regParam is 0 (3.00 s)").forall(html.contains))
    assert(charts(html).head.getElementsByTagName("polyline").getLength == 2)
  }

  test("where Spark's own code trained the page says so") {
    val html = page(SparkFitReport("linReg_2", "regParam is 0", 1e-6, 5, 3.0).writeHtml)
    assert(html.contains("regParam is 0") && charts(html).isEmpty)
  }
}
