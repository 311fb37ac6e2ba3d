package dwell.solver.cd.jvm

/**
 * What a line search needs of a separable sum, in the terms of [[dwell.jni.ResultHeader]].
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

  /** Where there is no step. */
  def at(value: Double): LineTerms = LineTerms(value, 0.0, 0.0, 0.0, 0.0, 0.0, Array.emptyDoubleArray)
}
