package dwell.report

import java.io.StringReader
import java.util.SplittableRandom
import javax.xml.parsers.DocumentBuilderFactory

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.ml.linalg.Vectors
import org.xml.sax.InputSource

import scala.jdk.CollectionConverters._

import dwell.{CheckLong, SparkSuite}
import dwell.ml.regression.LinearRegression
import dwell.record.{FitFacts, FitPhases, RoundRecord, WorkerTime}

/** A report has a bounded length, and its JSON and its charts can be read, whatever its numbers are and however many. */
class BoundedReportSuite extends SparkSuite {
  import BoundedReportSuite._

  /** Checks text, JSON and page; `rounds` is how many a table may list. */
  private def check(report: FitReport, rounds: Int): Unit = {
    assert(report.toText.length < 5000 + 300 * rounds)
    val json = report.toJson
    assert(json.length < 5000 + 600 * rounds)
    val read = new ObjectMapper().readTree(json)
    assert(read.get("rounds").size <= rounds)
    Numbers.foreach(name => assert(isNumberOrNull(read.get(name)), name))
    assert(read.get("phases").elements.asScala.forall(isNumberOrNull))
    read.get("rounds").elements.asScala.foreach { round =>
      assert(round.properties.asScala.forall(field => field.getKey == "note" || isNumberOrNull(field.getValue)))
    }
    val page = report.toHtml
    assert(page.length < MostBytes)
    charts(page).foreach { chart =>
      assert(chart.length < MostBytesOfChart)
      assert("class=\"tick\"".r.findAllIn(chart).size <= MostTicks)
      assert(
        !chart.contains("NaN") && !chart.contains("Infinity") && !"\\d{5}".r.findFirstIn(attributes(chart)).isDefined)
    }
  }

  /** A chart without its texts: what is left has pixels, which have four digits at most. */
  private def attributes(chart: String): String = chart.replaceAll(">[^<]*<", "><")

  test("every number may be anything: not a number, infinite, tiny, huge, below 0, or an ulp from its neighbour") {
    val random = new SplittableRandom(46)
    for (_ <- 0 until (if (CheckLong.everything) 5000 else 200)) check(randomReport(random), 60)
  }

  test("two numbers in all rounds, equal or an ulp from one another") {
    for (v <- Doubles; (a, b) <- Seq((v, v), (v, Math.nextUp(v)), (Math.nextDown(v), v)))
      check(reportOf(Seq.tabulate(4)(i => record(i, () => if (i % 2 == 0) a else b)), () => a), 4)
  }

  test("100,000 rounds: below 10 MB, the first and the last of them listed, and peaks on the curve") {
    val rounds = (0 to 100000).map { i =>
      val objective = if (i == 77777) 50.0 else 1.0 + 1.0 / (1 + i)
      RoundRecord(i, objective, 1.0 / (1 + i), 1e-3, 5e-4, 4e-4, 1e-4, 1.0, 8L, 0, i * 1e-3, workers(3, i * 1e-3))
    }
    val report = reportOf(rounds, () => 1.0)
    check(report, ListedRounds.Most)
    val read = new ObjectMapper().readTree(report.toJson)
    val listed = read.get("rounds").elements.asScala.map(_.get("round").asInt).toSeq
    assert(
      listed.size == ListedRounds.Most && listed.head == 0 && listed.last == 100000 && listed == listed.sorted.distinct)
    assert(read.get("roundsInAll").asInt == 100001 && report.toText.contains("10000 of 100001 rounds"))
    val objectives = charts(report.toHtml).filter(_.contains(">objective</text>"))
    assert(objectives.size == 2)
    objectives.foreach { chart =>
      val points =
        "points=\"([^\"]*)\"".r.findFirstMatchIn(chart).get.group(1).split(' ').map(_.split(',').map(_.toDouble))
      assert(points.length <= 1000 && points.head(0) == 74.0 && points.last(0) == 626.0)
      assert(points.map(_(1)).min == 12.0, "the peak of one round is at the top of the chart")
      assert(points.map(_(0)).toSeq == points.map(_(0)).toSeq.sorted)
    }
  }

  test("1,000 workers have 100 rows, the busiest of them in order") {
    val start = record(0, () => 1.0)
    val round =
      record(1, () => 1.0).copy(workers = (0 until 1000).map(k => WorkerTime(0.0, if (k % 10 == 3) 2.0 else 1.0)))
    val report = reportOf(Seq(start, round), () => 1.0)
    val page = report.copy(facts = report.facts.copy(nonzerosPerPartition = Seq.fill(1000)(5L))).toHtml
    val names = ">worker (\\d+)<".r.findAllMatchIn(page).map(_.group(1).toInt).toSeq
    assert(names == (3 until 1000 by 10) && page.contains("the 100 busiest of 1000"))
  }

  test("a model whose coefficients are all 0, with objective and bound next to each other, has a report") {
    for (seed <- 1 to 3) {
      val random = new java.util.Random(seed)
      val rows = Seq.fill(40)((random.nextGaussian(), Vectors.dense(Array.fill(3)(random.nextGaussian()))))
      val data = spark.createDataFrame(rows).toDF("label", "features")
      val model = new LinearRegression().setRegParam(10.0).setElasticNetParam(1.0).fit(data)
      val report = FitReport.of(model)
      assert(model.coefficients.numNonzeros == 0 && report.gap <= 1e-15 * report.objective)
      check(report, 100)
    }
  }
}

private object BoundedReportSuite {
  private val MostBytes = 10000000
  private val MostBytesOfChart = 1000000

  /** Marks of two axes, and names of rows. */
  private val MostTicks = 24 + 100

  /** Beside the phases and the rounds. */
  private val Numbers = Seq("objective", "dual", "gap", "relativeGap", "tolerance")

  private val Doubles = Seq(
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.03637014812,
    Math.nextUp(0.03637014812),
    123.456,
    1e15,
    1e300,
    -1e300,
    1e-300,
    Double.MinPositiveValue,
    -Double.MinPositiveValue,
    3.0 * Double.MinPositiveValue,
    java.lang.Double.MIN_NORMAL,
    Double.MaxValue,
    Math.nextDown(Double.MaxValue),
    Double.MinValue,
    Double.NaN,
    Double.PositiveInfinity,
    Double.NegativeInfinity)

  private def isNumberOrNull(node: JsonNode): Boolean = node.isNumber || node.isNull

  /** Charts, which have to be XML. */
  private def charts(page: String): Seq[String] = {
    val found = "(?s)<svg.*?</svg>".r.findAllIn(page).toSeq
    found.foreach(svg =>
      DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg))))
    found
  }

  private def workers(count: Int, start: Double): Seq[WorkerTime] = Seq.fill(count)(WorkerTime(start, 5e-4))

  /** A round all of whose numbers are drawn. */
  private def record(round: Int, next: () => Double): RoundRecord =
    RoundRecord(
      round,
      next(),
      next(),
      next(),
      next(),
      next(),
      next(),
      next(),
      8L,
      1,
      next(),
      Seq.fill(2)(WorkerTime(next(), next())))

  private def reportOf(rounds: Seq[RoundRecord], next: () => Double): LinearFitReport =
    LinearFitReport(
      "linReg_1",
      FitFacts(
        algorithm = "cocoa",
        orientation = "dual",
        rounds = rounds,
        objective = next(),
        dual = next(),
        tolerance = next(),
        drift = next(),
        nonzerosPerPartition = Seq(20L, 20L),
        phases = FitPhases(next(), next(), next(), next(), next(), next(), next(), next())))

  /** Numbers of the list, of a few of them, or ordinary ones among them. */
  private def randomReport(random: SplittableRandom): FitReport = {
    val some = Seq.fill(1 + random.nextInt(4))(Doubles(random.nextInt(Doubles.size)))
    def next(): Double = random.nextInt(4) match {
      case 0 => Doubles(random.nextInt(Doubles.size))
      case 1 => random.nextDouble()
      case _ => some(random.nextInt(some.size))
    }
    val report = reportOf(Seq.tabulate(random.nextInt(60))(record(_, () => next())), () => next())
    random.nextInt(4) match {
      case 0 => TopicFitReport(report.uid, report.facts)
      case 1 =>
        SparkFitReport(
          report.uid,
          "why",
          FitFacts(algorithm = "spark", tolerance = next(), numFeatures = 3, phases = report.facts.phases))
      case _ => report
    }
  }
}
