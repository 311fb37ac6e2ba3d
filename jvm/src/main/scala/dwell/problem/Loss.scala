package dwell.problem

/**
 * A loss of a row's predictions z, one for each output of the model, for the row's label y. This table holds everything
 * that differs between losses: code elsewhere asks for these properties, never which loss it is.
 *
 * {{{
 *   code  loss            outputs  labels             curvature  dual feasibility  parabola  saturates
 *   0     squared         1        any number         1          shift             yes       no
 *   1     logistic        1        -1 or 1            1/4        shrink a class    no        no
 *   2     hinge           1        -1 or 1            none       shrink a class    no        yes
 *   3     smoothed hinge  1        -1 or 1            1 / gamma  shrink a class    no        yes
 *   4     squared hinge   1        -1 or 1            2          shrink a class    no        yes
 *   5     softmax         C        0, 1, ..., C - 1   1/2        mix classes       no        no
 *   6     huber           1        any number         none       none              no        no
 * }}}
 *
 * The loss of Huber has the scale of the errors as a variable, beside the prediction.
 *
 * @param code
 *   number of the loss in calls of native code
 */
sealed abstract class Loss(val code: Int) extends Serializable {

  /** Predictions of a row, C. */
  def outputs: Int

  /** Labels that the loss is defined for. */
  def labels: Labels

  /** Upper bound of the second derivative by the predictions; infinite where there is none. */
  def curvature: Double

  /**
   * The largest third derivative by the prediction, over the second derivative; None where there is no bound. Of several predictions
   * the direction has a range of at most 1. Newton's method needs it for its certificate.
   */
  def selfConcordance: Option[Double] = None

  /** c where l*(-a; y) with p = y a is -p + c p^2 / 2 for every p that a prediction gives; None for other conjugates. */
  def conjugateCurvature: Option[Double] = None

  /** Whether the loss has a corner: its conjugate is linear. */
  final def hasCorner: Boolean = conjugateCurvature.contains(0.0)

  /** The number of errors' scales from which on the loss is linear, where the scale is a variable of the model; None for other losses. */
  def epsilon: Option[Double] = None

  /** The number of a loss that has one, for native code: the width of the smoothed hinge's parabola, or the epsilon of Huber's loss. */
  def parameter: Double = 0.0

  /** The predictions of the best model without coefficients, one for each output. */
  def bestConstant(labels: LabelFacts): Array[Double]

  /** Name for messages. */
  override def toString: String
}

object Loss {

  /** A loss of one prediction that takes any labels, for passes that sum features alone. */
  val ofAnyLabels: Loss = Squared
}

/** A loss of a row's predictions and label alone. */
sealed abstract class RowLoss(code: Int) extends Loss(code) {

  /** How dual variables are made to satisfy the condition of an intercept without a penalty. */
  def feasibility: DualFeasibility

  /** A smooth loss that is below this one by gamma / 2 at most; a loss with a bounded curvature is its own. */
  def smoothed(gamma: Double): RowLoss = this

  /** Mean loss of a model that predicts `constant` for every row. */
  def meanAt(constant: Array[Double], labels: LabelFacts): Double
}

/**
 * A loss l(z; y) of one prediction, with the properties that coordinate descent needs in the primal and in the dual
 * form. For labels of two classes a dual variable is a = y p.
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
 * The middle piece of the smoothed hinge holds for 0 < 1 - yz < gamma. Sources: Shalev-Shwartz and Zhang, Stochastic
 * Dual Coordinate Ascent Methods for Regularized Loss Minimization, JMLR 14 (2013), sections 5 and 6; for the squared
 * hinge Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008.
 */
sealed abstract class MarginLoss(code: Int) extends RowLoss(code) {

  override final def outputs: Int = 1

  /** l(z; y). */
  def value(z: Double, y: Double): Double

  /** The derivative of l by z; at the corner of the hinge, the one for larger z. */
  def derivative(z: Double, y: Double): Double

  /**
   * Whether l(z; y) is (z - y)^2 / 2. The parabola that local solvers minimise in the primal form is then the loss
   * itself, and the best intercept and the best step are known in closed form.
   */
  def isParabola: Boolean = false

  /** Whether the loss is 0 from some margin on. The dual variables of many rows are then at their bound. */
  def saturates: Boolean = false
}

/** The losses of two classes. */
sealed abstract class SignedLoss(code: Int) extends MarginLoss(code) {
  override def labels: Labels = Labels.Signed

  override final def feasibility: DualFeasibility = DualFeasibility.ShrinkClass(conjugateOfOne)

  /** The second derivative of l by z; at a corner of the first derivative, the one for larger z. */
  private[problem] def secondDerivative(z: Double, y: Double): Double

  /** l*(-a; y) where p = y a is 1. */
  protected def conjugateOfOne: Double

  override def bestConstant(labels: LabelFacts): Array[Double] = {
    val Array(negative, positive) = labels.classWeights
    // Without a curvature bound the loss is the hinge, whose best constant is the label of the heavier class.
    Array(
      if (curvature.isInfinite) math.signum(positive - negative)
      else
        InterceptSearch.minimise { constant =>
          val (up, down) = (positive * derivative(constant, 1.0), negative * derivative(constant, -1.0))
          val curve = positive * secondDerivative(constant, 1.0) + negative * secondDerivative(constant, -1.0)
          InterceptSearch.Slope(up + down, math.abs(up) + math.abs(down), curve)
        })
  }

  override def meanAt(constant: Array[Double], labels: LabelFacts): Double = {
    val Array(negative, positive) = labels.classWeights
    (positive * value(constant(0), 1.0) + negative * value(constant(0), -1.0)) / labels.totalWeight
  }
}

/** (z - y)^2 / 2. */
case object Squared extends MarginLoss(0) {
  override def labels: Labels = Labels.Real
  override def feasibility: DualFeasibility = DualFeasibility.Shift
  override def isParabola: Boolean = true
  override def bestConstant(labels: LabelFacts): Array[Double] = Array(labels.mean)
  override def meanAt(constant: Array[Double], labels: LabelFacts): Double =
    (labels.variance + math.pow(labels.mean - constant(0), 2.0)) / 2.0
  override def value(z: Double, y: Double): Double = {
    val error = z - y
    0.5 * (error * error)
  }
  override def derivative(z: Double, y: Double): Double = z - y
  override def curvature: Double = 1.0
  override def selfConcordance: Option[Double] = Some(0.0)
  override def toString: String = "squared"
}

/** log(1 + e^{-yz}). */
case object Logistic extends SignedLoss(1) {

  override def value(z: Double, y: Double): Double = {
    val t = y * z
    math.max(0.0, -t) + math.log1p(math.exp(-math.abs(t)))
  }

  override def derivative(z: Double, y: Double): Double = -y * sigmoid(-(y * z))

  override private[problem] def secondDerivative(z: Double, y: Double): Double = {
    val e = math.exp(-math.abs(y * z))
    val larger = 1.0 / (1.0 + e)
    larger * (e * larger)
  }

  override def curvature: Double = 0.25
  override def selfConcordance: Option[Double] = Some(1.0)
  override protected def conjugateOfOne: Double = 0.0
  override def toString: String = "logistic"

  /** 1 / (1 + e^{-t}). */
  private def sigmoid(t: Double): Double = {
    val e = math.exp(-math.abs(t))
    val larger = 1.0 / (1.0 + e)
    if (t >= 0.0) larger else e * larger
  }
}

/** max(0, 1 - yz). */
case object Hinge extends SignedLoss(2) {
  override def saturates: Boolean = true
  override def conjugateCurvature: Option[Double] = Some(0.0)
  override def smoothed(gamma: Double): RowLoss = SmoothedHinge(gamma)
  override def value(z: Double, y: Double): Double = math.max(0.0, 1.0 - y * z)
  override def derivative(z: Double, y: Double): Double = if (y * z < 1.0) -y else 0.0
  override private[problem] def secondDerivative(z: Double, y: Double): Double = 0.0
  override def curvature: Double = Double.PositiveInfinity
  override protected def conjugateOfOne: Double = -1.0
  override def toString: String = "hinge"
}

/**
 * The hinge with its corner rounded off over a width of `gamma`; its limit as gamma goes to 0 is the hinge.
 *
 * @param gamma
 *   finite and positive; the curvature is 1 / gamma
 */
final case class SmoothedHinge(gamma: Double) extends SignedLoss(3) {
  require(gamma > 0.0 && !gamma.isInfinite, s"gamma = $gamma: must be finite and positive")

  override def saturates: Boolean = true
  override def value(z: Double, y: Double): Double = {
    val short = 1.0 - y * z
    if (short <= 0.0) 0.0
    else if (short >= gamma) short - 0.5 * gamma
    else short * short / (2.0 * gamma)
  }
  override def derivative(z: Double, y: Double): Double = -y * MarginLoss.clip((1.0 - y * z) / gamma)
  override private[problem] def secondDerivative(z: Double, y: Double): Double = {
    val short = 1.0 - y * z
    if (short > 0.0 && short <= gamma) 1.0 / gamma else 0.0
  }
  override def curvature: Double = 1.0 / gamma
  override def parameter: Double = gamma
  override protected def conjugateOfOne: Double = 0.5 * gamma - 1.0
  override def toString: String = s"smoothed hinge (gamma = $gamma)"
}

/** max(0, 1 - yz)^2. */
case object SquaredHinge extends SignedLoss(4) {
  override def saturates: Boolean = true
  override def value(z: Double, y: Double): Double = {
    val short = math.max(0.0, 1.0 - y * z)
    short * short
  }
  override def derivative(z: Double, y: Double): Double = -2.0 * y * math.max(0.0, 1.0 - y * z)
  override private[problem] def secondDerivative(z: Double, y: Double): Double = if (y * z < 1.0) 2.0 else 0.0
  override def curvature: Double = 2.0
  override def conjugateCurvature: Option[Double] = Some(0.5)
  override protected def conjugateOfOne: Double = -0.75
  override def toString: String = "squared hinge"
}

/**
 * The softmax (multinomial logistic) loss log(sum_c e^{z_c}) - z_y, with one prediction for each class. Labels are the
 * numbers of the classes, 0 to `classes` - 1.
 *
 * @param classes
 *   at least 2
 */
final case class Softmax(classes: Int) extends RowLoss(5) {
  require(classes >= 2, s"classes = $classes: must be at least 2")

  override def outputs: Int = classes
  override def labels: Labels = Labels.Classes(classes)
  override def curvature: Double = 0.5

  // The third central moment of numbers in a range is at most the range times their variance.
  override def selfConcordance: Option[Double] = Some(1.0)
  override def feasibility: DualFeasibility = DualFeasibility.MixClasses(classes)

  /** Spark's start: the centred logarithms of 1 + weight. A class that does not occur has a finite intercept too. */
  override def bestConstant(labels: LabelFacts): Array[Double] = {
    val logs = labels.classWeights.map(math.log1p)
    logs.map(_ - logs.sum / logs.length)
  }

  override def meanAt(constant: Array[Double], labels: LabelFacts): Double = {
    val highest = constant.max
    val logSum = highest + math.log(constant.map(z => math.exp(z - highest)).sum)
    labels.classWeights.indices.map(c => labels.classWeights(c) * (logSum - constant(c))).sum / labels.totalWeight
  }

  override def toString: String = s"softmax of $classes classes"
}

/**
 * The loss of Huber with a scale sigma that is fitted together with the model, for errors r = y - z:
 *
 * {{{
 *   (sigma + r^2 / sigma) / 2                              if |r| <= epsilon sigma
 *   (sigma + 2 epsilon |r| - epsilon^2 sigma) / 2          otherwise
 * }}}
 *
 * Source: Owen, "A robust hybrid of lasso and ridge regression", Contemporary Mathematics 443, 2007, section 4, as Spark has it.
 *
 * @param scales
 *   epsilon, more than 1
 */
final case class Huber(scales: Double) extends Loss(6) {
  override def outputs: Int = 1
  override def labels: Labels = Labels.Real
  override def curvature: Double = Double.PositiveInfinity
  override def epsilon: Option[Double] = Some(scales)
  override def parameter: Double = scales
  override def bestConstant(labels: LabelFacts): Array[Double] = Array(labels.mean)
  override def toString: String = "huber"
}

/** Helpers for losses whose dual variables are bounded. */
object MarginLoss {

  /** The nearest number in [0, 1]. */
  private[dwell] def clip(p: Double): Double = math.min(1.0, math.max(0.0, p))
}
