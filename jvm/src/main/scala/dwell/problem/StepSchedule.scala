package dwell.problem

/**
 * Step sizes, as a function of the rows that a worker has visited since the start of the fit.
 *
 * @param eta0
 *   the first step size, finite and positive; its product with the L2 penalty is less than 1
 * @param rate
 *   how fast steps become smaller, finite and at least 0; with 0 they stay as they are
 */
final case class StepSchedule(kind: StepSchedule.Kind, eta0: Double, rate: Double)

/** The kinds of schedules. */
object StepSchedule {

  /**
   * How step sizes change with time.
   *
   * @param code
   *   number of the kind in calls of native code
   */
  sealed abstract class Kind(val code: Int) extends Serializable

  /** eta0 / sqrt(1 + rate t), for a mean loss that is convex but not strongly convex. */
  case object InverseSqrt extends Kind(0)

  /**
   * eta0 / (1 + rate eta0 t), with the L2 penalty as the rate: Bottou, Stochastic Gradient Descent Tricks (2012),
   * section 5.2.
   */
  case object Inverse extends Kind(1)
}
