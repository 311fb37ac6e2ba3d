package dwell.problem

/** An algorithm: the workers' part between two exchanges. */
sealed abstract class Algorithm(val name: String) extends Serializable {

  /** Whether all steps of a worker's round start from the same shared vector. */
  def batch: Boolean = true

  /** Whether its steps are along rows. The data are then split by rows for every penalty. */
  def ofRows: Boolean = false

  /** What workers do with their rows, where the data are split by rows. */
  def use: RowUse = RowUse.Coordinates

  /** Whether the workers keep variables of the problem, from which the next fit can start. */
  def keepsVariables: Boolean = true

  /** The default of the epochs in a round; None lets the measured times choose. */
  def localWork: Option[Double] = None
}

/** The algorithms. */
object Algorithm {

  /** Coordinate descent on the partition. Every step sees those before it (Smith et al. 2018). */
  case object CoCoA extends CoordinateAlgorithm("cocoa") {
    override def batch: Boolean = false
  }

  /**
   * Mini-batches of coordinate steps, which do not see one another (Richtarik and Takac, "Parallel coordinate descent
   * methods for big data optimization", 2016). It is CoCoA without local progress.
   */
  case object MiniBatchSCD extends CoordinateAlgorithm("mini-batch-scd")

  /**
   * Mini-batches of rows. Each batch makes one step along the gradient of its losses, as Spark's `GradientDescent`
   * does.
   */
  case object MiniBatchSGD extends CoordinateAlgorithm("mini-batch-sgd") {
    override def ofRows: Boolean = true
    override def use: RowUse = RowUse.Sums
    override def keepsVariables: Boolean = false

    /** Spark's default too. A lower bound needs the whole epoch. */
    override def localWork: Option[Double] = Some(1.0)
  }

  /**
   * Local stochastic gradient descent, then the average of the workers' models (Guo et al., "Model averaging in
   * distributed machine learning", VLDB Journal 30, 2021).
   */
  case object ModelAveraging extends GradientAlgorithm("ma-sgd", averages = true, refines = false)

  /** Model averaging until it makes little progress, then L-BFGS. */
  case object ModelAveragingThenLBFGS extends GradientAlgorithm("ma-sgd+l-bfgs", averages = true, refines = true)

  /** L-BFGS, or OWL-QN with an L1 penalty, as in Spark. */
  case object LBFGS extends GradientAlgorithm("l-bfgs", averages = false, refines = true)

  /** Newton's method, for few features. For the squared loss it is the solution of the normal equations. */
  case object Newton extends Algorithm("newton") {
    override def ofRows: Boolean = true
    override def use: RowUse = RowUse.Sums
    override def keepsVariables: Boolean = false
    override def localWork: Option[Double] = Some(1.0)
  }

  /** Every algorithm. */
  val all: Seq[Algorithm] =
    Seq(CoCoA, MiniBatchSCD, MiniBatchSGD, ModelAveraging, ModelAveragingThenLBFGS, LBFGS, Newton)
}

/** An algorithm whose workers keep coordinates of the primal or the dual problem, or move along their gradients. */
sealed abstract class CoordinateAlgorithm(name: String) extends Algorithm(name)

/**
 * An algorithm that moves the coefficients along the gradients of the rows' losses, in `dwell.solver.rows`.
 *
 * @param averages
 *   whether it begins with rounds of local descent
 * @param refines
 *   whether it ends with iterations of L-BFGS
 */
sealed abstract class GradientAlgorithm(name: String, val averages: Boolean, val refines: Boolean)
    extends Algorithm(name) {
  override def ofRows: Boolean = true
  override def use: RowUse = if (averages) RowUse.Averages else RowUse.Sums
  override def keepsVariables: Boolean = false
  override def localWork: Option[Double] = Some(1.0)
}
