package dwell.solver.rows.search

/** Who has the vectors of a search: the leader, or each worker a slice of them. Sums are over all coordinates. */
private[rows] trait SearchHolder extends AutoCloseable {

  /** Evaluates the loss after a step along the direction. */
  def trial(step: Double): Trial

  /** Makes the last trial the point: see [[SearchSlice]]. */
  def accept(moved: Boolean): Array[Double]

  /** Combines the next direction: see [[SearchSlice]]. */
  def turn(factor: Double, factors: Array[Double]): Array[Double]

  /** Frees vectors of the leader. Workers free theirs when the next search begins, or their tasks end. */
  override def close(): Unit = ()
}

/**
 * A trial.
 *
 * @param model
 *   in the layout of a pass
 * @param loss
 *   the mean loss
 * @param sums
 *   the five sums of [[SearchSlice]]
 */
private[rows] final case class Trial(model: Array[Byte], loss: Double, sums: Array[Double])

/**
 * What a search by L-BFGS, or by OWL-QN with an L1 penalty, knows of its vectors: their products.
 *
 * @param memory
 *   corrections that are kept
 */
private[rows] final class SearchVectors(holder: SearchHolder, hasL1: Boolean, memory: Int) {
  private var corrections = Corrections.Empty

  /** The products of the search's gradient with steps and changes. */
  private var alongSteps, alongChanges = Vector.empty[Double]
  private var last: Trial = _
  private var accepted: Trial = _

  /** Loss, penalties and gradient after a step along the direction. */
  def evaluate(step: Double): Evaluation = {
    last = holder.trial(step)
    val Array(l2, l1, slope, squares, subsquares) = last.sums
    val smooth = last.loss + l2
    Evaluation(smooth, smooth + l1, slope, math.sqrt(squares), math.sqrt(if (hasL1) subsquares else squares))
  }

  /**
   * Makes the last trial the point.
   *
   * @param moved
   *   whether the step from the point before it becomes the newest correction
   */
  def accept(moved: Boolean): Unit = {
    val sums = holder.accept(moved)
    accepted = last
    if (moved) {
      val size = math.min(corrections.size + 1, memory)
      def products(arrays: Int, k: Int): Vector[Double] = Vector.tabulate(size)(i => sums(3 * (arrays * size + i) + k))
      corrections = corrections.updated(memory, products(1, 0), products(0, 1), products(1, 1))
      alongSteps = products(0, 2)
      alongChanges = products(1, 2)
    }
  }

  /** Forgets all corrections. */
  def forget(): Unit = corrections = Corrections.Empty

  /**
   * Turns to the next direction of descent. With an L1 penalty it has no entries that do not descend.
   *
   * @return
   *   None if the corrections give no direction
   */
  def turn(): Option[Direction] =
    corrections.direction(alongSteps, alongChanges).map { case (factor, factors) =>
      val Array(squares, slope) = holder.turn(factor, factors)
      Direction(math.sqrt(squares), slope)
    }

  /** The model at the point, in the layout of a pass. */
  def model: Array[Byte] = accepted.model
}

/**
 * A direction of a search.
 *
 * @param slope
 *   of the objective along it, at the point
 */
private[rows] final case class Direction(norm: Double, slope: Double)

/**
 * A trial of a search, evaluated.
 *
 * @param smooth
 *   mean loss and L2 penalty
 * @param value
 *   the objective
 * @param slope
 *   along the direction
 * @param gradientNorm
 *   norm of the gradient of the smooth part
 * @param norm
 *   norm of the gradient, or of the subgradient nearest to 0
 */
private[rows] final case class Evaluation(
    smooth: Double,
    value: Double,
    slope: Double,
    gradientNorm: Double,
    norm: Double)
