package dwell.solver.rows.search

import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.ResultHeader

/** The rounds of a fit by [[BreezeSearch]]: one for each iteration, with the workers' times of all its evaluations. */
private[solver] final class BreezeRounds(timeline: Timeline) {

  /** The evaluations since the last iteration, and the time that the leader has left to them. */
  private var evaluations = Seq.empty[ResultHeaders]
  private var leftSeconds = 0.0

  /**
   * Takes note of an evaluation.
   *
   * @param asked
   *   `System.nanoTime` when the workers were asked
   * @param addSeconds
   *   time that the leader has spent on adding
   */
  def note(asked: Long, headers: ResultHeaders, addSeconds: Double): Unit = {
    evaluations :+= headers
    leftSeconds += (System.nanoTime() - asked) * 1e-9 - addSeconds
  }

  /** Makes all iterations of a search, and returns the last point. */
  def run(points: Iterator[BreezeSearch.Point]): BreezeSearch.Point = {
    var clock = System.nanoTime()
    var last = Option.empty[BreezeSearch.Point]
    // To ask for the next point is to make an iteration.
    points.foreach { point =>
      if (timeline.records.isEmpty) timeline.begin(point.value, Double.NaN)
      else if (last.nonEmpty && evaluations.nonEmpty) record(point.value, clock)
      clock = System.nanoTime()
      evaluations = Seq.empty
      leftSeconds = 0.0
      last = Some(point)
    }
    last.get
  }

  private def record(objective: Double, clock: Long): Unit =
    timeline.add(
      objective,
      Double.NaN,
      clock,
      driverSeconds = (System.nanoTime() - clock) * 1e-9 - leftSeconds,
      evaluations.size.toDouble,
      evaluations.last,
      earlierWork = evaluations.init.map(_.largest(ResultHeader.SOLVER_NANOS) * 1e-9).sum)
}
