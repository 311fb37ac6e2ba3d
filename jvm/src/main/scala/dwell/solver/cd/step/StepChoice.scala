package dwell.solver.cd.step

/**
 * The step factors of a round: `(g1, g2)` for the sum of the workers' directions and for the step before it.
 *
 * The leader knows the smooth part of the objective along the two directions. The workers sample the change of the rest
 * (the L1 penalty; bounds and entropies of dual variables) at a few fixed points. The rest is convex: at any mixture of
 * the points it changes by at most the mixture of the changes, the chord. The step minimises the smooth part plus the
 * chord over all mixtures. (0, 0) is one of them, so the objective never rises.
 */
private[solver] object StepChoice {

  /**
   * Step factors.
   *
   * @param rest
   *   upper bound of the change of the sampled part
   */
  final case class StepFactors(g1: Double, g2: Double, rest: Double)

  /**
   * The step of lowest objective, or the average of the workers' steps (gamma = 1/K of Smith et al. 2018) if the
   * decrease is within rounding error. Near the optimum this happens long before the certificate is at its best. A
   * search would then follow rounding errors, and momentum would let them grow. The average decreases the objective,
   * even if the decrease does not show.
   *
   * @param points
   *   the points, two numbers each; empty if the workers' part is quadratic and contained in `smooth`
   * @param samples
   *   change of the rest at each point; infinite if the point is not feasible
   * @param workers
   *   number of workers, K
   * @param objective
   *   the objective, whose size decides what counts as rounding error
   */
  def apply(
      smooth: StepFunction,
      points: Array[Double],
      samples: Array[Double],
      workers: Int,
      objective: Double): StepFactors = {
    val step = if (points.isEmpty) search(smooth) else mixture(smooth, vertices(points, samples))
    val change = smooth(step.g1, step.g2).value + step.rest
    if (change < -Visible * math.abs(objective)) step
    else {
      val share = 1.0 / workers
      val at = points.indices.by(2).find(k => points(k) == share && points(k + 1) == 0.0)
      StepFactors(share, 0.0, at.fold(0.0)(k => samples(k / 2)))
    }
  }

  /**
   * The sum of the workers' steps, or no step if the sum raises the objective. With local models that are safe for
   * adding only rounding can raise it.
   *
   * @param change
   *   change of the workers' whole part
   * @param known
   *   the part of `change` that `smooth` contains
   */
  def adding(smooth: StepFunction, change: Double, known: Double): StepFactors = {
    val step = StepFactors(1.0, 0.0, change - known)
    if (smooth(1.0, 0.0).value + step.rest <= 0.0) step else StepFactors(0.0, 0.0, 0.0)
  }

  private def search(smooth: StepFunction): StepFactors = {
    val (g1, g2) = LineSearch.minimise(smooth)
    StepFactors(g1, g2, 0.0)
  }

  private def vertices(points: Array[Double], samples: Array[Double]): Array[Vertex] = {
    val feasible = samples.indices.filter(k => !samples(k).isInfinite && !samples(k).isNaN)
    (Vertex(0.0, 0.0, 0.0) +: feasible.map(k => Vertex(points(2 * k), points(2 * k + 1), samples(k)))).toArray
  }

  /**
   * Points on a grid, and the average of the workers' steps. All of them are feasible for the L1 penalty; for dual
   * variables some may not be.
   */
  def everywhere(workers: Int): Array[Double] =
    grid(Seq(0.0, 0.5, 1.0, 2.0), Seq(0.0, 0.5, 1.0)) ++ (if (workers > 2) Array(1.0 / workers, 0.0)
                                                          else Array.empty[Double])

  private def grid(first: Seq[Double], second: Seq[Double]): Array[Double] =
    (for (g1 <- first; g2 <- second if g1 != 0.0 || g2 != 0.0) yield Seq(g1, g2)).flatten.toArray

  private final case class Vertex(g1: Double, g2: Double, change: Double)

  /**
   * Newton's method over the shares of the mixture. Each iteration minimises the quadratic model plus the chord, and
   * goes in that direction as far as the sum falls.
   */
  private def mixture(smooth: StepFunction, vertices: Array[Vertex]): StepFactors = {
    var shares = new Array[Double](vertices.length)
    shares(0) = 1.0
    var here = smooth(0.0, 0.0)
    var value = 0.0
    var iteration = 0
    var improving = true
    while (improving && iteration < MaxIterations) {
      val target = minimiseModel(here, vertices, shares)
      var factor = 1.0
      var accepted = false
      while (!accepted && factor > Smallest) {
        val trial = shares.indices.map(i => shares(i) + factor * (target(i) - shares(i))).toArray
        val (g1, g2) = at(vertices, trial)
        val there = smooth(g1, g2)
        val sum = there.value + chord(vertices, trial)
        accepted = sum < value
        if (accepted) {
          improving = value - sum > Negligible * math.abs(sum)
          shares = trial
          here = there
          value = sum
        } else factor *= 0.5
      }
      improving = improving && accepted
      iteration += 1
    }
    val single = shares.indexWhere(_ > 1.0 - Rounding)
    if (single >= 0) StepFactors(vertices(single).g1, vertices(single).g2, vertices(single).change)
    else {
      val (g1, g2) = at(vertices, shares)
      StepFactors(g1, g2, chord(vertices, shares))
    }
  }

  /**
   * Minimises the model exactly along one pair of vertices at a time: it moves share from the worst one to the best.
   */
  private def minimiseModel(model: StepValue, vertices: Array[Vertex], from: Array[Double]): Array[Double] = {
    val shares = from.clone()
    val slopes = new Array[Double](vertices.length)
    val (start1, start2) = at(vertices, from)
    var moved1, moved2 = 0.0
    var step = 0
    var improving = true
    while (improving && step < MaxPairs) {
      val slope1 = model.slope1 + model.curve11 * moved1 + model.curve12 * moved2
      val slope2 = model.slope2 + model.curve12 * moved1 + model.curve22 * moved2
      var (best, worst) = (0, -1)
      var largest = 0.0
      var i = 0
      while (i < vertices.length) {
        slopes(i) = slope1 * vertices(i).g1 + slope2 * vertices(i).g2 + vertices(i).change
        if (slopes(i) < slopes(best)) best = i
        if (shares(i) > 0.0 && (worst < 0 || slopes(i) > slopes(worst))) worst = i
        largest = math.max(largest, math.abs(slopes(i)))
        i += 1
      }
      val promised = slopes(worst) - slopes(best)
      val first = vertices(best).g1 - vertices(worst).g1
      val second = vertices(best).g2 - vertices(worst).g2
      val curve = model.curve11 * first * first + 2.0 * model.curve12 * first * second + model.curve22 * second * second
      improving = promised > Rounding * largest
      if (improving) {
        val share = if (curve > 0.0) math.min(shares(worst), promised / curve) else shares(worst)
        shares(best) += share
        shares(worst) = if (share == shares(worst)) 0.0 else shares(worst) - share
        val (g1, g2) = at(vertices, shares)
        moved1 = g1 - start1
        moved2 = g2 - start2
      }
      step += 1
    }
    shares
  }

  private def at(vertices: Array[Vertex], shares: Array[Double]): (Double, Double) = {
    var g1, g2 = 0.0
    var i = 0
    while (i < vertices.length) {
      g1 += shares(i) * vertices(i).g1
      g2 += shares(i) * vertices(i).g2
      i += 1
    }
    (g1, g2)
  }

  private def chord(vertices: Array[Vertex], shares: Array[Double]): Double = {
    var sum = 0.0
    vertices.indices.foreach(i => sum += shares(i) * vertices(i).change)
    sum
  }

  /** A decrease smaller than this, relative to the objective, may be rounding. */
  private val Visible = 1e-13
  private val MaxIterations = 12
  private val MaxPairs = 3000
  private val Smallest = 1e-6
  private val Negligible = 1e-10
  private val Rounding = 1e-12
}
