package dwell.problem

/** An algorithm, as users name it. */
sealed abstract class Algorithm(val name: String) extends Serializable

/** The algorithms. */
object Algorithm {

  /** Coordinate descent on the partition. Every step sees those before it (Smith et al. 2018). */
  case object CoCoA extends Algorithm("cocoa")

  /**
   * Local stochastic gradient descent, then the average of the workers' models (Guo et al., "Model averaging in
   * distributed machine learning", VLDB Journal 30, 2021).
   */
  case object ModelAveraging extends Algorithm("ma-sgd")

  /** L-BFGS, or OWL-QN with an L1 penalty, as in Spark. */
  case object LBFGS extends Algorithm("l-bfgs")

  /** Newton's method, for few features. For the squared loss it is the solution of the normal equations. */
  case object Newton extends Algorithm("newton")

  /** Every algorithm. */
  val all: Seq[Algorithm] = Seq(CoCoA, ModelAveraging, LBFGS, Newton)
}
