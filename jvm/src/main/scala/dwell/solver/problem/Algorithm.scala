package dwell.solver.problem

/** What the workers do between two exchanges. */
sealed abstract class Algorithm(val name: String) extends Serializable {

  /** Whether all steps of a worker's round start from the same shared vector. */
  def batch: Boolean = true

  /** Whether its steps are along rows, so that the data have to be split by rows whatever the penalty. */
  def ofRows: Boolean = false

  /** Whether the workers keep variables of the problem, which the next fit could start from. */
  def keepsVariables: Boolean = true

  /** Epochs in a round where the user has not said; None lets the measured times choose. */
  def localWork: Option[Double] = None
}

object Algorithm {

  /** Coordinate descent on the partition: every step sees those before it (Smith et al. 2018). */
  case object CoCoA extends CoordinateAlgorithm("cocoa") {
    override def batch: Boolean = false
  }

  /**
   * Mini-batches of coordinate steps, which do not see one another (Richtarik and Takac, "Parallel coordinate descent methods
   * for big data optimization", 2016): what CoCoA is without local progress.
   */
  case object MiniBatchSCD extends CoordinateAlgorithm("mini-batch-scd")

  /** Mini-batches of rows, and a step along the gradient of their losses for each, as Spark's `GradientDescent`. */
  case object MiniBatchSGD extends CoordinateAlgorithm("mini-batch-sgd") {
    override def ofRows: Boolean = true
    override def keepsVariables: Boolean = false

    /** Spark's default as well, and what a lower bound takes. */
    override def localWork: Option[Double] = Some(1.0)
  }

  /**
   * Local stochastic gradient descent, and the average of the workers' models (Guo et al., "Model averaging in distributed
   * machine learning", VLDB Journal 30, 2021).
   */
  case object ModelAveraging extends GradientAlgorithm("ma-sgd", averages = true, refines = false)

  /** Model averaging until it makes little progress, and L-BFGS from there. */
  case object ModelAveragingThenLBFGS extends GradientAlgorithm("ma-sgd+l-bfgs", averages = true, refines = true)

  /** L-BFGS, and OWL-QN where there is an L1 penalty, as in Spark. */
  case object LBFGS extends GradientAlgorithm("l-bfgs", averages = false, refines = true)

  val all: Seq[Algorithm] =
    Seq(CoCoA, MiniBatchSCD, MiniBatchSGD, ModelAveraging, ModelAveragingThenLBFGS, LBFGS)
}

/** An algorithm whose workers keep coordinates of the primal or the dual problem, or move along their gradients. */
sealed abstract class CoordinateAlgorithm(name: String) extends Algorithm(name)

/**
 * An algorithm that works on coefficients along the gradients of the rows' losses: see `dwell.solver.sgd`.
 *
 * @param averages
 *   whether it begins with rounds of local descent
 * @param refines
 *   whether it ends with iterations of L-BFGS
 */
sealed abstract class GradientAlgorithm(name: String, val averages: Boolean, val refines: Boolean)
    extends Algorithm(name) {
  override def ofRows: Boolean = true
  override def keepsVariables: Boolean = false
  override def localWork: Option[Double] = Some(1.0)
}
