package dwell.solver.choice

import dwell.problem.{Loss, MarginLoss, Penalty}

/**
 * Seconds that a fit is expected to take on one core.
 *
 * @param other
 *   what Newton's method is compared with: coordinate descent or, where that does not solve the problem, L-BFGS or Spark's normal equations
 * @param objection
 *   why L-BFGS is taken where Newton's method is not faster; None leaves this to others
 */
private[choice] final case class NewtonForecast(
    newton: Double,
    other: String,
    otherSeconds: Double,
    objection: Option[String] = None) {

  /** Whether Newton's method is taken. */
  def isFaster: Boolean = newton <= otherSeconds

  override def toString: String = f"about $newton%.2g s of work, where $other takes $otherSeconds%.2g s"
}

private[choice] object NewtonForecast {

  /**
   * The forecast of a problem. A pass takes a product of each row with itself for each pair of outputs, and the leader factors a
   * matrix of all coefficients.
   */
  def of(loss: Loss, penalty: Penalty, rows: DataFacts): NewtonForecast = {
    val n = rows.numFeatures.toDouble
    val once = loss.selfConcordance.contains(0.0)
    val isHinge = loss.hasCorner
    val passes = if (once) 1.0 else if (isHinge) PassesOfHinge else PassesOfNewton
    // Of the hinge, few rows have a curvature.
    val hessians = if (isHinge) CurvedOfHinge * passes else if (once) passes else passes - WithoutHessian
    val perNonzero = if (isHinge) SecondsPerProximal else SecondsPerGradient
    val c = loss.outputs.toDouble
    // The curvature of the last output follows from the curvatures of the others.
    val pairs = math.max(1.0, c * (c - 1.0) / 2.0)
    val hessian = pairs * (rows.densePairs * SecondsPerDensePair + rows.sparsePairs * SecondsPerSparsePair)
    // As many variables have no remainder beside others as there are features too many.
    val isWide = once && penalty.isNone && rows.numRows < n
    val factors = if (isWide) FactorsOfWide else if (once) FactorsOfSquares else FactorsOfNewton
    val leader = c * n * (c * n) * (c * n) / 3.0 * SecondsPerFactorPair * factors
    val newton = hessians * hessian + passes * (leader + c * rows.nonzeros * perNonzero)
    val descent = Epochs * rows.nonzeros * SecondsPerNonzero + SecondsOfRounds
    val descends = loss.isInstanceOf[MarginLoss] && !penalty.isNone
    if (descends) NewtonForecast(newton, "coordinate descent", descent)
    else if (isWide) {
      val seconds = IterationsOfWide * rows.nonzeros * SecondsPerGradient + SecondsOfIterations
      val why = "fewer rows than features leave many optimal models, of which it finds the one of least norm"
      NewtonForecast(newton, "L-BFGS", seconds, Some(why))
    }
    // Spark's normal equations take the same sums.
    else if (once) NewtonForecast(newton, "Spark's own code", SparkByNormal * newton)
    else
      NewtonForecast(
        newton,
        "L-BFGS",
        (IterationsPerNonzero + IterationsPerOutput * c) * rows.nonzeros + SecondsOfIterations)
  }

  // Measured on one core of an AMD EPYC with AVX-512, in round numbers: only ratios of ten matter.
  private val SecondsPerDensePair = 1e-10
  private val SecondsPerSparsePair = 1e-9
  private val SecondsPerFactorPair = 1e-10
  private val SecondsPerNonzero = 4e-9
  private val SecondsPerGradient = 1e-9

  /** Factorisations and inverses of a round; of squares; and of squares with remainders (600 x 1,000, 2026-11-27-wide in bench/results). */
  private val FactorsOfNewton = 2.0
  private val FactorsOfSquares = 5.0
  private val FactorsOfWide = 40.0

  /** Iterations of L-BFGS for squares with fewer rows than features. */
  private val IterationsOfWide = 100.0

  /** Passes over the rows of a logistic fit, and how many of them take the Hessian of the pass before. */
  private val PassesOfNewton = 8.0
  private val WithoutHessian = 1.0

  /** The same of the hinge, the share of its rows that have a curvature, and a nonzero's part of a pass with several earlier models. */
  private val PassesOfHinge = 40.0
  private val CurvedOfHinge = 0.15
  private val SecondsPerProximal = 3e-9

  /** Epochs of coordinate descent, and what its rounds and its form of the data take beside them. */
  private val Epochs = 40.0
  private val SecondsOfRounds = 0.5

  /**
   * The iterations of L-BFGS: with ten classes the workers of 1,000,000 x 28 took 5 to 10 s on two cores together, and of 100,000 x 400
   * 3.3 s (the grid of 2026-11-25 in bench/results).
   */
  private val IterationsPerNonzero = 6e-8
  private val IterationsPerOutput = 2.5e-8
  private val SecondsOfIterations = 0.5

  /** A fit by Spark takes so many times as long as ours. */
  private val SparkByNormal = 10.0
}
