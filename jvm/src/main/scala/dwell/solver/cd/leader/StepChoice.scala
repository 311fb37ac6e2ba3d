package dwell.solver.cd.leader

/**
 * The step factors of a round: `(g1, g2)` for the sum of the workers' directions and for the step before it.
 *
 * What the driver knows along the two directions is smooth. Of what only the workers know and is not quadratic (the L1
 * penalty; bounds and entropies of dual variables) they measure the change at a few fixed points. It is convex, so that
 * at any mixture of the points it is at most the mixture of the changes: the chord. Smooth part plus chord is
 * minimised over all mixtures. (0, 0) is one of them, and the objective therefore never rises.
 */
private[solver] object StepChoice {

  /** @param rest what the part that was sampled changes by, at most */
  final case class Step(g1: Double, g2: Double, rest: Double)

  /**
   * Near the optimum a decrease is too small for the objective to show, long before the certificate is at its best. A
   * search would find nothing but rounding then, and momentum would let it grow: the average of the workers' steps is
   * taken (gamma = 1/K of Smith et al. 2018), which decreases the objective whether that shows or not.
   *
   * @param points
   *   the points, two numbers each; empty where the workers' part is quadratic, and known to `smooth`
   * @param samples
   *   change of the rest at each point; infinite where the point is not feasible
   * @param objective
   *   its size, which says what rounding is
   */
  def apply(
      smooth: StepFunction,
      points: Array[Double],
      samples: Array[Double],
      workers: Int,
      objective: Double): Step = {
    val step = if (points.isEmpty) search(smooth) else mixture(smooth, vertices(points, samples))
    val change = smooth(step.g1, step.g2).value + step.rest
    if (change < -Visible * math.abs(objective)) step
    else {
      val share = 1.0 / workers
      val at = points.indices.by(2).find(k => points(k) == share && points(k + 1) == 0.0)
      Step(share, 0.0, at.fold(0.0)(k => samples(k / 2)))
    }
  }

  /**
   * The sum of the workers' steps as it is, if that does not raise the objective, which with local models that are safe for it
   * only rounding could make it do.
   *
   * @param change
   *   of the workers' part, all of it
   * @param known
   *   how much of that is in `smooth`
   */
  def adding(smooth: StepFunction, change: Double, known: Double): Step = {
    val step = Step(1.0, 0.0, change - known)
    if (smooth(1.0, 0.0).value + step.rest <= 0.0) step else Step(0.0, 0.0, 0.0)
  }

  private def search(smooth: StepFunction): Step = {
    val (g1, g2) = LineSearch.minimise(smooth)
    Step(g1, g2, 0.0)
  }

  private def vertices(points: Array[Double], samples: Array[Double]): Array[Vertex] = {
    val feasible = samples.indices.filter(k => !samples(k).isInfinite && !samples(k).isNaN)
    (Vertex(0.0, 0.0, 0.0) +: feasible.map(k => Vertex(points(2 * k), points(2 * k + 1), samples(k)))).toArray
  }

  /** Points for the L1 penalty, where any step is feasible. */
  def everywhere(workers: Int): Array[Double] =
    grid(Seq(0.0, 0.5, 1.0, 2.0), Seq(0.0, 0.5, 1.0)) ++ (if (workers > 2) Array(1.0 / workers, 0.0)
                                                          else Array.empty[Double])

  private def grid(first: Seq[Double], second: Seq[Double]): Array[Double] =
    (for (g1 <- first; g2 <- second if g1 != 0.0 || g2 != 0.0) yield Seq(g1, g2)).flatten.toArray

  private final case class Vertex(g1: Double, g2: Double, change: Double)

  /**
   * Newton's method over the mixtures' shares: each iteration minimises the quadratic model plus the chord, and goes as
   * far in its direction as the sum falls.
   */
  private def mixture(smooth: StepFunction, vertices: Array[Vertex]): Step = {
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
    if (single >= 0) Step(vertices(single).g1, vertices(single).g2, vertices(single).change)
    else {
      val (g1, g2) = at(vertices, shares)
      Step(g1, g2, chord(vertices, shares))
    }
  }

  /** Moves share between two vertices at a time, from the worst that has any to the best, exactly. */
  private def minimiseModel(model: StepValue, vertices: Array[Vertex], from: Array[Double]): Array[Double] = {
    val shares = from.clone()
    val (start1, start2) = at(vertices, from)
    var moved1, moved2 = 0.0
    var step = 0
    var improving = true
    while (improving && step < MaxPairs) {
      val slope1 = model.slope1 + model.curve11 * moved1 + model.curve12 * moved2
      val slope2 = model.slope2 + model.curve12 * moved1 + model.curve22 * moved2
      val slopes = vertices.map(v => slope1 * v.g1 + slope2 * v.g2 + v.change)
      val best = slopes.indices.minBy(slopes(_))
      val worst = shares.indices.filter(shares(_) > 0.0).maxBy(slopes(_))
      val promised = slopes(worst) - slopes(best)
      val first = vertices(best).g1 - vertices(worst).g1
      val second = vertices(best).g2 - vertices(worst).g2
      val curve = model.curve11 * first * first + 2.0 * model.curve12 * first * second + model.curve22 * second * second
      improving = promised > Rounding * slopes.map(math.abs(_)).max
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
    vertices.indices.foreach { i =>
      g1 += shares(i) * vertices(i).g1
      g2 += shares(i) * vertices(i).g2
    }
    (g1, g2)
  }

  private def chord(vertices: Array[Vertex], shares: Array[Double]): Double = {
    var sum = 0.0
    vertices.indices.foreach(i => sum += shares(i) * vertices(i).change)
    sum
  }

  /** A decrease that is smaller, relative to the objective, may be rounding. */
  private val Visible = 1e-13
  private val MaxIterations = 12
  private val MaxPairs = 3000
  private val Smallest = 1e-6
  private val Negligible = 1e-10
  private val Rounding = 1e-12
}
