package dwell.problem

/** An algorithm: the workers' part between two exchanges. */
sealed abstract class Algorithm(val name: String) extends Serializable {

  /** Whether its steps are along rows. The data are then split by rows for every penalty. */
  def ofRows: Boolean = false

  /** What workers do with their rows, where the data are split by rows. */
  def use: RowUse = RowUse.Coordinates

  /** The default of the epochs in a round; None lets the measured times choose. */
  def localWork: Option[Double] = None
}

/** The algorithms. */
object Algorithm {

  /** Coordinate descent on the partition. Every step sees those before it (Smith et al. 2018). */
  case object CoCoA extends Algorithm("cocoa")

  /**
   * Local stochastic gradient descent, then the average of the workers' models (Guo et al., "Model averaging in
   * distributed machine learning", VLDB Journal 30, 2021).
   */
  case object ModelAveraging extends GradientAlgorithm("ma-sgd", averages = true)

  /** L-BFGS, or OWL-QN with an L1 penalty, as in Spark. */
  case object LBFGS extends GradientAlgorithm("l-bfgs", averages = false)

  /** Newton's method, for few features. For the squared loss it is the solution of the normal equations. */
  case object Newton extends Algorithm("newton") {
    override def ofRows: Boolean = true
    override def use: RowUse = RowUse.Sums
    override def localWork: Option[Double] = Some(1.0)
  }

  /** Every algorithm. */
  val all: Seq[Algorithm] = Seq(CoCoA, ModelAveraging, LBFGS, Newton)
}

/**
 * An algorithm that moves the coefficients along the gradients of the rows' losses, in `dwell.solver.rows`.
 *
 * @param averages
 *   whether its rounds are local descent, and not iterations of L-BFGS
 */
sealed abstract class GradientAlgorithm(name: String, val averages: Boolean) extends Algorithm(name) {
  override def ofRows: Boolean = true
  override def use: RowUse = if (averages) RowUse.Averages else RowUse.Sums
  override def localWork: Option[Double] = Some(1.0)
}
