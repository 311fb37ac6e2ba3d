package dwell.solver

/** What the workers do between two exchanges. */
sealed abstract class Algorithm(val name: String) extends Serializable {

  /** Whether all steps of a worker's round start from the same shared vector. */
  def batch: Boolean = true

  /** Whether the workers keep variables of the problem, which the next fit could start from. */
  def keepsVariables: Boolean = true

  /** Epochs in a round where the user has not said; None lets the measured times choose. */
  def localWork: Option[Double] = None
}

object Algorithm {

  /** Coordinate descent on the partition: every step sees those before it (Smith et al. 2018). */
  case object CoCoA extends Algorithm("cocoa") {
    override def batch: Boolean = false
  }

  /**
   * Mini-batches of coordinate steps, which do not see one another (Richtarik and Takac, "Parallel coordinate descent methods
   * for big data optimization", 2016): what CoCoA is without local progress.
   */
  case object MiniBatchSCD extends Algorithm("mini-batch-scd")

  /** Mini-batches of rows, and a step along the gradient of their losses for each, as Spark's `GradientDescent`. */
  case object MiniBatchSGD extends Algorithm("mini-batch-sgd") {
    override def keepsVariables: Boolean = false

    /** Spark's default as well, and what a lower bound takes. */
    override def localWork: Option[Double] = Some(1.0)
  }

  val all: Seq[Algorithm] = Seq(CoCoA, MiniBatchSCD, MiniBatchSGD)
}
