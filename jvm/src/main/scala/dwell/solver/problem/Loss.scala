package dwell.solver.problem

/**
 * A loss l(z; y) of a prediction z for the label y, and what coordinate descent on either side of the duality needs
 * of it. For classification the label is -1 or 1, and a dual variable is a = y p.
 *
 * {{{
 *   loss            l(z; y)                                      l*(-a; y)                        domain
 *   squared         (z - y)^2 / 2                                a^2/2 - y a                      all a
 *   logistic        log(1 + e^{-yz})                             p log p + (1-p) log(1-p)         0 <= p <= 1
 *   hinge           max(0, 1 - yz)                               -p                               0 <= p <= 1
 *   smoothed hinge  0, (1-yz)^2 / (2 gamma) or 1 - yz - gamma/2  -p + gamma p^2 / 2               0 <= p <= 1
 *   squared hinge   max(0, 1 - yz)^2                             -p + p^2 / 4                     0 <= p
 * }}}
 *
 * The middle piece of the smoothed hinge is that for 0 < 1 - yz < gamma. Sources: Shalev-Shwartz and Zhang, Stochastic
 * Dual Coordinate Ascent Methods for Regularized Loss Minimization, JMLR 14 (2013), sections 5 and 6; for the squared
 * hinge Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008.
 *
 * @param code
 *   number of the loss in calls of native code
 */
sealed abstract class Loss(val code: Int) extends Serializable {

  /** l(z; y). */
  def value(z: Double, y: Double): Double

  /** A derivative of l by z; where the hinge has many at its corner, the one for larger z. */
  def derivative(z: Double, y: Double): Double

  /** The second derivative of l by z, where there is one; for larger z at a corner of the first. */
  def secondDerivative(z: Double, y: Double): Double

  /** Upper bound of the second derivative by z; infinite where there is none. */
  def curvature: Double

  /** Convex conjugate l*(-a; y); infinite outside of its domain. */
  final def conjugate(a: Double, y: Double): Double =
    if (contains(a, y)) conjugateInside(a, y) else Double.PositiveInfinity

  /** Whether a is in the domain of l*(-a; y). */
  def contains(a: Double, y: Double): Boolean

  /** l*(-a; y) in its domain. */
  protected def conjugateInside(a: Double, y: Double): Double

  /**
   * Minimiser over a' of `l*(-a'; y) + z (a' - a) + q (a' - a)^2 / 2`: the exact step of dual coordinate descent.
   *
   * @param a
   *   present dual variable, in the domain of the conjugate
   * @param z
   *   prediction at the present dual variables
   * @param q
   *   how much the prediction moves with a, at least 0; where it is 0 the step is the limit for q to 0
   */
  def dualStep(a: Double, z: Double, y: Double, q: Double): Double

  /** Whether labels have to be -1 or 1. */
  def classifies: Boolean = true

  /** Name for messages. */
  override def toString: String

  // In its domain the conjugate is conjugateSlope a + conjugateCurvature a^2 / 2 + conjugateRest. A line search gets the
  // quadratic part as five numbers and the rest as samples.

  /** Coefficient of a in the quadratic part of the conjugate. */
  private[solver] def conjugateSlope(y: Double): Double = -y

  /** Coefficient of a^2 / 2 in the quadratic part of the conjugate. */
  private[solver] def conjugateCurvature: Double

  /** What the conjugate is beside its quadratic part, in its domain. */
  private[solver] def conjugateRest(a: Double, y: Double): Double = 0.0
}

/** (z - y)^2 / 2. */
case object Squared extends Loss(0) {
  override def value(z: Double, y: Double): Double = {
    val error = z - y
    0.5 * (error * error)
  }
  override def derivative(z: Double, y: Double): Double = z - y
  override def secondDerivative(z: Double, y: Double): Double = 1.0
  override def curvature: Double = 1.0
  override def contains(a: Double, y: Double): Boolean = true
  override protected def conjugateInside(a: Double, y: Double): Double = 0.5 * (a * a) - y * a
  override def dualStep(a: Double, z: Double, y: Double, q: Double): Double = a + ((y - z) - a) / (1.0 + q)
  override def classifies: Boolean = false
  override def toString: String = "squared"
  override private[solver] def conjugateCurvature: Double = 1.0
}

/** log(1 + e^{-yz}). */
case object Logistic extends Loss(1) {

  /** Steps of the dual step; the logits of double precision need 15 at most, up to q = 1e6. */
  private val MaxSteps = 100

  /**
   * Relative to 1 + |t|. The error after a Newton step is at most half of its square, so the step that is this small is
   * the last one needed for full precision.
   */
  private val StepTolerance = 1e-9

  override def value(z: Double, y: Double): Double = {
    val t = y * z
    math.max(0.0, -t) + StrictMath.log1p(StrictMath.exp(-math.abs(t)))
  }

  override def derivative(z: Double, y: Double): Double = -y * sigmoid(-(y * z))

  override def secondDerivative(z: Double, y: Double): Double = {
    val p = sigmoid(-(y * z))
    p * (1.0 - p)
  }

  override def curvature: Double = 0.25

  override def contains(a: Double, y: Double): Boolean = Loss.inUnitInterval(y * a)

  override protected def conjugateInside(a: Double, y: Double): Double = conjugateRest(a, y)

  /**
   * With the logit t of the new p, p = 1 / (1 + e^{-t}), the derivative vanishes where `h(t) = q (p(t) - p) + yz + t = 0`.
   * h rises from -infinity to infinity with slope at least 1, and the root is between -yz - q (1 - p) and -yz + q p.
   * Newton's method starts at t = 0, the inflection point of h, or as near to it as the bracket allows, so that it
   * stays on one side; bisection catches what rounding may do. In the logit no p is too near to 0 or 1, and p = 0 is a
   * legal start.
   */
  override def dualStep(a: Double, z: Double, y: Double, q: Double): Double = {
    val p = y * a
    val margin = y * z
    var low = -margin - q * (1.0 - p)
    var high = -margin + q * p
    var t = math.min(math.max(0.0, low), high)
    var steps = 0
    var done = false
    while (!done && steps < MaxSteps) {
      val s = sigmoid(t)
      val h = q * (s - p) + margin + t
      val step = h / (q * (s * (1.0 - s)) + 1.0)
      val next = t - step
      // Tested before the bracket: an exact root would be on its edge, and bisection would throw it away.
      if (math.abs(step) <= StepTolerance * (1.0 + math.abs(t))) {
        t = next
        done = true
      } else {
        if (h > 0.0) high = t else low = t
        t = if (next > low && next < high) next else 0.5 * (low + high)
      }
      steps += 1
    }
    y * sigmoid(t)
  }

  override def toString: String = "logistic"

  override private[solver] def conjugateSlope(y: Double): Double = 0.0
  override private[solver] def conjugateCurvature: Double = 0.0

  override private[solver] def conjugateRest(a: Double, y: Double): Double = {
    val p = y * a
    val left = if (p == 0.0) 0.0 else p * StrictMath.log(p)
    val right = if (p == 1.0) 0.0 else (1.0 - p) * StrictMath.log1p(-p)
    left + right
  }

  /** 1 / (1 + e^{-t}). */
  private[solver] def sigmoid(t: Double): Double = {
    val e = StrictMath.exp(-math.abs(t))
    if (t >= 0.0) 1.0 / (1.0 + e) else e / (1.0 + e)
  }
}

/** max(0, 1 - yz). */
case object Hinge extends Loss(2) {
  override def value(z: Double, y: Double): Double = math.max(0.0, 1.0 - y * z)
  override def derivative(z: Double, y: Double): Double = if (y * z < 1.0) -y else 0.0
  override def secondDerivative(z: Double, y: Double): Double = 0.0
  override def curvature: Double = Double.PositiveInfinity
  override def contains(a: Double, y: Double): Boolean = Loss.inUnitInterval(y * a)
  override protected def conjugateInside(a: Double, y: Double): Double = -(y * a)
  override def dualStep(a: Double, z: Double, y: Double, q: Double): Double = {
    val short = 1.0 - y * z
    // At the corner and without curvature every p is as good; it stays, and 0 / 0 is not asked.
    val step = if (short == 0.0) 0.0 else short / q
    y * Loss.clip(y * a + step)
  }
  override def toString: String = "hinge"
  override private[solver] def conjugateCurvature: Double = 0.0
}

/**
 * The hinge with its corner rounded off over a width of `gamma`; the hinge itself for gamma = 0 in the limit.
 *
 * @param gamma
 *   finite and positive; the curvature is 1 / gamma
 */
final case class SmoothedHinge(gamma: Double) extends Loss(3) {
  require(gamma > 0.0 && !gamma.isInfinite, s"gamma = $gamma: must be finite and positive")

  override def value(z: Double, y: Double): Double = {
    val short = 1.0 - y * z
    if (short <= 0.0) 0.0
    else if (short >= gamma) short - 0.5 * gamma
    else short * short / (2.0 * gamma)
  }
  override def derivative(z: Double, y: Double): Double = -y * Loss.clip((1.0 - y * z) / gamma)
  override def secondDerivative(z: Double, y: Double): Double = {
    val short = 1.0 - y * z
    if (short > 0.0 && short <= gamma) 1.0 / gamma else 0.0
  }
  override def curvature: Double = 1.0 / gamma
  override def contains(a: Double, y: Double): Boolean = Loss.inUnitInterval(y * a)
  override protected def conjugateInside(a: Double, y: Double): Double = {
    val p = y * a
    0.5 * (gamma * (p * p)) - p
  }
  override def dualStep(a: Double, z: Double, y: Double, q: Double): Double =
    y * Loss.clip((1.0 - y * z + q * (y * a)) / (q + gamma))
  override def toString: String = s"smoothed hinge (gamma = $gamma)"
  override private[solver] def conjugateCurvature: Double = gamma
}

/** max(0, 1 - yz)^2. */
case object SquaredHinge extends Loss(4) {
  override def value(z: Double, y: Double): Double = {
    val short = math.max(0.0, 1.0 - y * z)
    short * short
  }
  override def derivative(z: Double, y: Double): Double = -2.0 * y * math.max(0.0, 1.0 - y * z)
  override def secondDerivative(z: Double, y: Double): Double = if (y * z < 1.0) 2.0 else 0.0
  override def curvature: Double = 2.0
  override def contains(a: Double, y: Double): Boolean = y * a >= 0.0
  override protected def conjugateInside(a: Double, y: Double): Double = {
    val p = y * a
    0.25 * (p * p) - p
  }
  override def dualStep(a: Double, z: Double, y: Double, q: Double): Double =
    y * math.max(0.0, (1.0 - y * z + q * (y * a)) / (q + 0.5))
  override def toString: String = "squared hinge"
  override private[solver] def conjugateCurvature: Double = 0.5
}

object Loss {
  private[solver] def clip(p: Double): Double = math.min(1.0, math.max(0.0, p))

  private[solver] def inUnitInterval(p: Double): Boolean = p >= 0.0 && p <= 1.0
}
