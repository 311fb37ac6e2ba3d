package dwell.report

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import scala.jdk.CollectionConverters._

import dwell.LimitedSuite
import dwell.record.{FitFacts, FitPhases, HeldBytes, RoundRecord}

/** The JSON of a report has the fields that docs/fit-report.md lists, and null where there is no number. */
class JsonReportSuite extends LimitedSuite {

  private val rounds = Seq(
    RoundRecord(0, 2.0, Double.NaN, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0, 0.0, Seq.empty),
    RoundRecord(1, 1.5, 0.25, 1.0, 0.5, 0.25, 0.25, 2.0, 80L, 1, 1.5, Seq.empty, "a \"note\""))

  private val linear = LinearFitReport(
    "logreg_1",
    FitFacts(
      algorithm = "cocoa+l-bfgs",
      handover = "after round 1",
      orientation = "dual",
      orientationReason = "because",
      aggregation = "gang",
      aggregationReason = "slots",
      restarts = 1,
      rounds = rounds,
      objective = 1.5,
      dual = 1.25,
      tolerance = 1e-4,
      converged = true,
      oneClass = 0.995,
      numRows = 10L,
      numFeatures = 5,
      nonzeros = 40L,
      nonzerosPerPartition = Seq(20L, 20L),
      placement = "dealt",
      held = HeldBytes(480L, 960L),
      phases = FitPhases.of(total = 9.0, reading = 1.25, setUp = 0.25, rounds, model = 0.5)))

  private def read(report: FitReport): JsonNode = new ObjectMapper().readTree(report.toJson)

  test("a linear fit: every field with its value") {
    val json = read(linear)
    val texts = Seq(
      "uid",
      "solver",
      "algorithm",
      "orientation",
      "choice",
      "handover",
      "aggregation",
      "aggregationReason",
      "placement")
    assert(
      texts.map(json.get(_).asText) ==
        Seq("logreg_1", "native", "cocoa+l-bfgs", "dual", "because", "after round 1", "gang", "slots", "dealt"))
    val numbers =
      Seq(
        "version",
        "restarts",
        "objective",
        "dual",
        "gap",
        "tolerance",
        "oneClass",
        "rows",
        "features",
        "nonzeros",
        "partitions")
    assert(numbers.map(json.get(_).asDouble) == Seq(1.0, 1.0, 1.5, 1.25, 0.25, 1e-4, 0.995, 10.0, 5.0, 40.0, 2.0))
    assert(
      json.get("relativeGap").asDouble == 0.25 / 1.5 && json.get("converged").asBoolean && json.get("reason").isNull)
    assert((json.get("stateBytes").asLong, json.get("stateLosses").asInt) == ((80L, 1)))
    assert(json.get("held").get("data").asLong == 480L && json.get("held").get("most").asLong == 960L)
    val phases = json.get("phases")
    assert(phases.elements.asScala.map(_.asDouble).sum == 9.0 && phases.get("setUp").asDouble == 0.25)
  }

  test("rounds, and null where there is no bound") {
    val json = read(linear).get("rounds")
    assert(json.size == 2 && json.get(0).get("gap").isNull && json.get(1).get("gap").asDouble == 0.25)
    val last = json.get(1)
    val numbers =
      Seq("round", "objective", "elapsed", "seconds", "workerSeconds", "leaderSeconds", "overheadSeconds", "localWork")
    assert(numbers.map(last.get(_).asDouble) == Seq(1.0, 1.5, 1.5, 1.0, 0.5, 0.25, 0.25, 2.0))
    assert(last.get("note").asText == "a \"note\"")
  }

  test("where Spark's own code trained: the reason, and no objective") {
    val json =
      read(
        SparkFitReport(
          "linReg_2",
          "labels of one class",
          FitFacts(
            algorithm = "spark",
            tolerance = 1e-6,
            numFeatures = 5,
            phases = FitPhases.of(total = 3.0, spark = 2.25))))
    assert(json.get("solver").asText == "spark" && json.get("reason").asText == "labels of one class")
    assert(Seq("objective", "dual", "gap", "relativeGap").forall(json.get(_).isNull) && json.get("rounds").isEmpty)
  }
}
