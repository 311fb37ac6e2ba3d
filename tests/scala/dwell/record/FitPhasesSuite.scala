package dwell.record

import java.util.Locale

import dwell.LimitedSuite
import dwell.report.SparkFitReport

/** The phases of a fit: their sums, and their text. */
class FitPhasesSuite extends LimitedSuite {

  private def round(worker: Double, overhead: Double, leader: Double): RoundRecord =
    RoundRecord(1, 1.0, 0.5, worker + overhead + leader, worker, overhead, leader, 1.0, 0L, 0, 1.0, Seq.empty)

  private val rounds = Seq(round(0.0, 0.0, 0.0), round(0.25, 0.125, 2.0), round(0.5, 0.25, 1.0))

  test("the phases add up to the whole fit, and what nobody measured is the rest") {
    val phases = FitPhases.of(total = 9.0, reading = 3.5, setUp = 0.25, rounds, model = 0.5)
    assert(
      phases == FitPhases(3.5, 0.25, workers = 0.75, leader = 3.0, transport = 0.375, 0.5, spark = 0.0, rest = 0.625))
    assert(phases.total == 9.0 && phases.rounds == 4.125)
  }

  test("the line begins with the total and names the phases that there were, in every locale") {
    val ours = FitPhases.of(total = 9.0, reading = 3.5, setUp = 0.25, rounds, model = 0.5)
    val theirs = FitPhases.of(total = 2.5, reading = 0.125, spark = 2.375)
    val before = Locale.getDefault
    Locale.setDefault(Locale.GERMANY)
    try {
      assert(
        ours.toLine == "9.00 s: reading 3.50, set-up 0.25, rounds 4.13 (workers 0.75, leader 3.00, transport 0.38), " +
          "model 0.50, rest 0.63")
      assert(theirs.toLine == "2.50 s: reading 0.13, Spark's own code 2.38")
    } finally Locale.setDefault(before)
  }

  test("a report begins with the line, and its seconds are those of the phases") {
    val phases = FitPhases.of(total = 2.5, reading = 0.125, spark = 2.25)
    val report = SparkFitReport(
      "linReg_1",
      "the label is constant",
      FitFacts(algorithm = "spark", tolerance = 1e-6, numFeatures = 5, phases = phases))
    assert(
      report.toText.linesIterator.toSeq == Seq(
        phases.toLine,
        "linReg_1: trained by Spark's own code: the label is constant"))
    assert(report.totalSeconds == 2.5 && report.flattenSeconds == 0.125)
  }
}
