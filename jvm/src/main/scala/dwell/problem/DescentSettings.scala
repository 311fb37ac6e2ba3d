package dwell.problem

/**
 * How local gradient descent makes its steps.
 *
 * @param stepSize
 *   the first step size; None searches for it
 * @param schedule
 *   how the step size falls; None chooses by the penalty
 * @param decay
 *   factor of the step size after each round
 */
final case class DescentSettings(
    stepSize: Option[Double] = None,
    schedule: Option[StepSchedule.Kind] = None,
    decay: Double = 1.0)
