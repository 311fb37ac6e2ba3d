package dwell.bench.sgd

/** What minimises an [[SgdProblem]], and can say where it was on the way. */
private[bench] trait SgdSystem {
  def name: String

  /** What the steps of checkpoints are: `rounds` of communication, or `passes` over the data. */
  def unit: String

  /** Steps after which models are looked at. */
  def checkpoints: Seq[Double]

  /** How the step size is found, where the system does not do that by itself. */
  def tuning: Option[Tuning]

  /**
   * A fit from zero.
   *
   * @param step
   *   NaN where the system finds it by itself
   * @param at
   *   steps after which to keep the model, in order
   */
  def run(step: Double, at: Seq[Double]): Seq[Checkpoint]
}

/**
 * A search of the step size, which is in no system's seconds.
 *
 * @param first
 *   step size to begin with
 * @param steps
 *   of each fit of the search
 * @param value
 *   what is to be least
 * @param limit
 *   of the step size, which has to be smaller
 */
private[bench] final case class Tuning(
    first: Double,
    steps: Double,
    value: Evaluation => Double,
    limit: Double = Double.PositiveInfinity) {
  import Tuning._

  /** The best on a grid of powers of 4, up and down from the first as long as it gets better. */
  def best(f: Double => Evaluation): Double = {
    def cost(step: Double) =
      Some(step)
        .filter(_ < limit)
        .map(s => value(f(s)))
        .filterNot(v => v.isNaN || v.isInfinite)
        .getOrElse(Double.MaxValue)
    def climb(step: Double, at: Double, factor: Double, left: Int): (Double, Double) = {
      val next = step * factor
      val there = cost(next)
      if (there < at && left > 1) climb(next, there, factor, left - 1)
      else if (there < at) (next, there)
      else (step, at)
    }
    val here = cost(first)
    val (up, atUp) = climb(first, here, Factor, Moves)
    val (down, atDown) = if (atUp < here) (up, atUp) else climb(first, here, 1.0 / Factor, Moves)
    if (atDown < atUp) down else up
  }
}

private[bench] object Tuning {
  private val Factor = 4.0
  private val Moves = 5
}
