package dwell.solver.problem

/**
 * A loss of the predictions z of a row, one for each output of the model, for the row's label: either a loss of one margin
 * or the softmax of several classes.
 */
sealed abstract class SgdLoss extends Serializable {

  /** Predictions of a row, C. */
  def outputs: Int

  /** Number of the loss in calls of native code. */
  def code: Int

  /** Width of the smoothed hinge's parabola; 0 for every other loss. */
  def gamma: Double
}

/** A loss of one prediction. Labels are -1 or 1; any finite number with the squared loss. */
final case class MarginLoss(loss: Loss) extends SgdLoss {
  override def outputs: Int = 1
  override def code: Int = loss.code
  override def gamma: Double = loss match {
    case SmoothedHinge(width) => width
    case _ => 0.0
  }
  override def toString: String = loss.toString
}

/**
 * The softmax (multinomial logistic) loss log(sum_c e^{z_c}) - z_y, with one prediction for each class. Labels are the
 * numbers of the classes, 0 to `classes` - 1.
 *
 * @param classes
 *   at least 2
 */
final case class Softmax(classes: Int) extends SgdLoss {
  require(classes >= 2, s"classes = $classes: must be at least 2")

  override def outputs: Int = classes
  override def code: Int = 5
  override def gamma: Double = 0.0
  override def toString: String = s"softmax of $classes classes"
}
