package dwell.fit

import dwell.LimitedSuite
import dwell.jni.ResultHeader
import dwell.record.RoundRecord

/** The parts of a round's seconds, by the clocks of workers and leader. */
class TimelineSuite extends LimitedSuite {

  private def headers(workers: Double*): ResultHeaders =
    new ResultHeaders(workers.map { seconds =>
      val header = ResultHeader.allocate(0)
      ResultHeader.put(header, ResultHeader.SOLVER_NANOS, seconds * 1e9)
      header
    }.toArray)

  /** A round of a little more than a second. */
  private def record(leader: Double, earlierWork: Double, workers: Double*): RoundRecord = {
    val timeline = new Timeline(_ => ())
    timeline.begin(1.0, 1.0)
    timeline.add(
      1.0,
      1.0,
      System.nanoTime() - 1000000000L,
      leader,
      1.0,
      headers(workers: _*),
      earlierWork = earlierWork)
  }

  private def close(a: Double, b: Double): Boolean = math.abs(a - b) < 1e-9

  test("a round is its slowest worker, the leader, and the rest") {
    val r = record(leader = 0.25, earlierWork = 0.0, 0.125, 0.5)
    assert(close(r.workerSeconds, 0.5) && r.driverSeconds == 0.25 && r.seconds >= 1.0)
    assert(close(r.overheadSeconds, r.seconds - 0.75))
  }

  test("exchanges of the round before the last one count as its work") {
    assert(close(record(leader = 0.0, earlierWork = 0.25, 0.125, 0.5).workerSeconds, 0.75))
  }

  test("adding while a worker is still at work is not counted twice") {
    val r = record(leader = 2.0, earlierWork = 0.0, 0.75)
    assert(close(r.workerSeconds, 0.75) && close(r.driverSeconds, r.seconds - 0.75) && r.overheadSeconds == 0.0)
  }
}
