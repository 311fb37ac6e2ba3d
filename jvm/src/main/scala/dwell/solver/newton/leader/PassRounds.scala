package dwell.solver.newton.leader

import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.ResultHeader
import dwell.solver.pass.PassSums

/** The passes of a fit's rounds, and the seconds that they take. */
private[newton] final class PassRounds(workers: PassWorkers, timeline: Timeline) {
  import PassRounds._

  // Since the end of the last round.
  private var clock = System.nanoTime()
  private var leaderSeconds = 0.0
  private var passes = Seq.empty[ResultHeaders]

  /** See [[PassWorkers.pass]]. */
  def pass(
      at: Array[Double],
      sums: PassSums,
      reach: Array[Double],
      corner: Option[Corner],
      what: String,
      line: Line = Line.none): PassOutcome = {
    val asked = System.nanoTime()
    val passed = workers.pass(at, sums, reach, corner, what, line)
    passes :+= passed.headers
    leaderSeconds -= (System.nanoTime() - asked) * 1e-9 - passed.addSeconds
    passed
  }

  /** See [[PassWorkers.squares]]. */
  def squares(in: Remainders, what: String): Array[Double] = {
    val asked = System.nanoTime()
    val (found, headers) = workers.squares(in, what)
    passes :+= headers
    leaderSeconds -= (System.nanoTime() - asked) * 1e-9
    found
  }

  /** A length of `step`, which is too long, that lowers the objective; 0 if there is none. */
  def shorter(
      model: QuadraticModel,
      at: Array[Double],
      step: Array[Double],
      objective: Double,
      corner: Option[Corner] = None): Double = {
    val what = s"${timeline.rounds} rounds, line search"
    val passed = pass(at, PassSums.Nothing, Array.emptyDoubleArray, corner, what, Line(step, Lengths))
    lowest(model, at, step, objective, Lengths, passed.along)
  }

  /** Whether the round has a pass. */
  def any: Boolean = passes.nonEmpty

  /** Records a round that is over. One without a pass has no local work. */
  def record(objective: Double, gap: Double): Unit = {
    timeline.add(
      objective,
      gap,
      clock,
      driverSeconds = (System.nanoTime() - clock) * 1e-9 + leaderSeconds,
      epochs = passes.size.toDouble,
      passes.lastOption.getOrElse(new ResultHeaders(Array.empty)),
      earlierWork = passes.dropRight(1).map(_.largest(ResultHeader.SOLVER_NANOS) * 1e-9).sum)
    clock = System.nanoTime()
    leaderSeconds = 0.0
    passes = Seq.empty
  }
}

private[newton] object PassRounds {

  /**
   * The length of `step` with the lowest objective; 0 if none of them lowers it.
   *
   * @param losses
   *   mean loss at each length
   */
  def lowest(
      model: QuadraticModel,
      at: Array[Double],
      step: Array[Double],
      objective: Double,
      lengths: Array[Double],
      losses: Seq[Double]): Double = {
    val values = lengths.indices.map(k => losses(k) + model.penalty(model.moved(at, step, lengths(k))))
    val k = values.indices.minBy(k => if (values(k).isNaN) Double.PositiveInfinity else values(k))
    if (values(k) < objective) lengths(k) else 0.0
  }

  /** Parts of a step. The first ones are close together, because along a piecewise parabola the best part counts. The last one is 2e-7. */
  private val Lengths =
    Array.tabulate(16)(k => math.pow(0.7, k + 1.0)) ++ Array.tabulate(16)(k =>
      math.pow(0.7, 16.0) * math.pow(0.5, k + 1.0))
}
