package dwell.report

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import dwell.LimitedSuite
import dwell.record.{FitEnded, FitStarted, RoundCompleted, RoundRecord}

/** What runs, as a caller sees it who asks from time to time. */
class FitProgressSuite extends LimitedSuite {

  private def record(round: Int, gap: Double): RoundRecord =
    RoundRecord(round, 2.0, gap, 1.0, 0.5, 0.25, 0.25, 1.0, 0L, 0, round.toDouble, Seq.empty)

  private def read(progress: FitProgress): Seq[JsonNode] = {
    val list = new ObjectMapper().readTree(progress.toJson)
    (0 until list.size).map(list.get)
  }

  test("a fit is listed from its start to one list after its end, with its last round") {
    val progress = new FitProgress
    assert(read(progress).isEmpty)
    progress.onOtherEvent(FitStarted("a", 1e-6, 100))
    val Seq(begun) = read(progress)
    assert(
      begun.get("uid").asText == "a" && begun.get("tolerance").asDouble == 1e-6 && begun.get("maxRounds").asInt == 100)
    assert(begun.get("round").asInt == 0 && begun.get("relativeGap").isNull && !begun.get("ended").asBoolean)
    progress.onOtherEvent(RoundCompleted("a", record(1, 0.5)))
    progress.onOtherEvent(RoundCompleted("a", record(2, 0.25)))
    val Seq(runs) = read(progress)
    assert(
      runs.get("round").asInt == 2 && runs.get("relativeGap").asDouble == 0.125 && runs.get("seconds").asDouble == 2.0)
    progress.onOtherEvent(FitEnded("a"))
    assert(read(progress).map(_.get("ended").asBoolean) == Seq(true))
    assert(read(progress).isEmpty)
  }

  test("fits of the same estimator, one after the other, and a fit that began before") {
    val progress = new FitProgress
    progress.onOtherEvent(RoundCompleted("old", record(7, Double.NaN)))
    progress.onOtherEvent(FitStarted("a", 0.0, 10))
    progress.onOtherEvent(FitEnded("a"))
    progress.onOtherEvent(FitStarted("a", 0.0, 10))
    progress.onOtherEvent(RoundCompleted("a", record(3, Double.NaN)))
    val both = read(progress)
    assert(both.map(_.get("round").asInt) == Seq(0, 3) && both.map(_.get("ended").asBoolean) == Seq(true, false))
    assert(both.last.get("relativeGap").isNull)
  }
}
