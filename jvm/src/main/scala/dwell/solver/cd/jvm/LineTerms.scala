package dwell.solver.cd.jvm

/**
 * The terms of a separable sum that a line search needs. [[dwell.jni.CdLayout]] describes them.
 *
 * @param value
 *   the sum after the step
 */
private[solver] final case class LineTerms(
    value: Double,
    slope1: Double,
    slope2: Double,
    curve11: Double,
    curve12: Double,
    curve22: Double,
    samples: Array[Double])

private[solver] object LineTerms {

  /** The terms without a step. */
  def at(value: Double): LineTerms = LineTerms(value, 0.0, 0.0, 0.0, 0.0, 0.0, Array.emptyDoubleArray)
}
