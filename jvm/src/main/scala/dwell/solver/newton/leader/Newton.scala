package dwell.solver.newton.leader

import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.PassLayout
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{FirstPass, LinearSolution, SoftmaxCentre}
import dwell.solver.pass.PassSums

/**
 * Newton's method for few features: each round is one pass over the rows, for value, gradient and Hessian of the losses at a model, and
 * one quadratic model that the leader minimises exactly, with its penalty. For the squared loss the Hessian is the Gram matrix,
 * and the second pass only finds out what rounding has left.
 *
 * '''The certificate''' needs no penalty. At w let M be the Hessian of losses and L2 penalty, s the subgradient of the rest that
 * balances the step, lambda = |s| in the norm of the inverse of M, and r the largest norm of a row in it. Along v the third
 * derivative of the loss is at most |x'v| <= r |v| times the second (`selfConcordance` times; Bach, "Self-concordant analysis for logistic
 * regression", 2010). So the objective is above a function of |v| alone, whose least value gives, with q = r lambda < 1,
 *
 * {{{
 *   F(w) - F* <= -offset + [ q + (1 - q) log(1 - q) ] / r^2
 * }}}
 *
 * where the offset is what the L1 penalty and bounds bend, and lambda^2 / 2 stands for the bracket if the third derivative is 0. A row's
 * norm is at most sum_j |x_j| |e_j|, of which a pass takes the largest, with the norms |e_j| of the pass before it: along a step v,
 * M falls by at most the factor exp(-r |v|), see [[Curvature]]. The softmax has a prediction for each class, and its third derivative is at most the range of
 * the predictions along v, |x'v_a - x'v_b|, times the second. Other losses have the gap of [[DualValue]] or [[ScaleBound]].
 *
 * Where the loss with a scale is linear it has no curvature, and a Newton step may fail. The parabola above it then gives one that does not.
 */
private[newton] final class Newton(workers: PassWorkers, task: NewtonTask, completed: RoundRecord => Unit) {
  import Newton._

  private val problem = task.problem
  private val shape = task.shape
  private val triangles = PassLayout.triangles(shape.features, shape.more, shape.outputs)
  private val timeline = new Timeline(completed)
  private val passes = new PassRounds(workers, timeline)

  /** Iterates until the certificate suffices or no rounds are left. */
  def run(): LinearSolution = {
    var at = start
    var sampling = HessianSampling.of(task)
    val begun = task.first match {
      case Some(first) => Passed(first.loss, 0.0, 0.0, first.vector, shape, new ResultHeaders(Array.empty), 1.0, 0.0)
      case None => pass(at, PassSums(gradient = true, sampling.every, moments = true), none, "moments")
    }
    var passed = begun
    val model = QuadraticModel.of(task, passed.variances)
    val dualValue = DualValue.of(task, model, passed)
    val scaleBound = ScaleBound.of(task, model)
    var curvature = new Curvature(passed.vector, isExact = sampling.isExact)
    var objective = passed.loss + model.penalty(at)
    val first = objective
    var best = minimise(model, curvature, passed, at, objective)
    // Each pass bounds the same optimum from below, up to rounding.
    var dual = Double.NegativeInfinity
    def certify(): Double = {
      if (scaleBound.isEmpty) {
        val gap = dualValue.fold(curvature.gapOf(best, isQuadratic))(value => objective - value.at(passed))
        dual = math.max(dual, objective - gap)
      }
      math.max(objective - dual, math.ulp(objective))
    }
    var gap = certify()
    timeline.begin(objective, gap)
    var standing = false
    var majorised = false
    def what = s"${timeline.rounds} rounds, Newton"
    def renew(): Unit = {
      majorised = shape.hasScale
      sampling = sampling.exact
      passed = pass(at, PassSums(gradient = true, sampling.every, moments = false, majorised), none, what)
      curvature = new Curvature(passed.vector, isExact = true)
      best = minimise(model, curvature, passed, at, objective)
      gap = certify()
    }
    // Without errors, or with classes that a plane separates, the objective goes to 0, and no gap is small beside it.
    def vanishes = if (isQuadratic) gap <= Vanishing * first else objective <= problem.tolerance * first
    // Where a plane separates some of the rows, coefficients grow for ever, the curvature fades as fast as the slope, and no bound
    // comes. A Newton step then leaves a fixed share, where it otherwise leaves the square.
    var contraction = 0.0
    def fades = !isQuadratic && !shape.hasScale && problem.penalty.isNone && gap.isInfinite && contraction > Fading &&
      best.decrease <= target * objective
    def unbounded = !isQuadratic && !shape.hasScale && vanishes || fades && best.decrease > Rounding * objective
    // Where few errors are within epsilon scales, or none, the optimum is a corner, which neither kind of step finds.
    def stalls = shape.hasScale && (standing || timeline.rounds >= LastOfScale)
    def done = standing || gap <= target * objective || vanishes || fades || stalls
    while (!done && timeline.rounds < problem.maxRounds) {
      val (wasFresh, wasMajorised) = (curvature.isFresh, majorised)
      val whole = longest(at, best.step)
      var length = whole
      var next = model.moved(at, best.step, length)
      val every = if (isQuadratic) 0 else sampling.every
      val sums = PassSums(gradient = true, every, moments = false)
      val asked =
        scaleBound.fold(if (isQuadratic || !curvature.isExact) none else curvature.unitNorms)(_.reach(best.step))
      var trial = pass(next, sums, asked, what)
      var reached = trial.loss + model.penalty(next)
      if (!majorised) scaleBound.foreach(bound => dual = math.max(dual, bound.at(passed, at, best, trial.reach)))
      majorised = false
      if (!(reached <= objective - Least * length * best.decrease + Rounding * objective)) {
        length = whole * passes.shorter(model, at, best.step.map(whole * _), objective)
        if (length > 0.0) {
          next = model.moved(at, best.step, length)
          majorised = shape.hasScale
          trial = pass(next, sums.copy(majorise = majorised), asked, what)
          reached = trial.loss + model.penalty(next)
        }
      }
      if (length > 0.0 && reached <= objective + Rounding * objective) {
        at = next
        passed = trial
        objective = reached
        curvature.move(length * best.slope, if (shape.hasScale) 0.0 else passed.reach)
        val before = best.decrease
        if (every > 0) curvature = curvature.replaced(passed.vector, isExact = sampling.isExact)
        best = minimise(model, curvature, passed, at, objective)
        gap = certify()
        contraction = if (wasFresh) best.decrease / before else 0.0
        val lacksProof = gap.isInfinite && curvature.knowsNorm
        sampling =
          if (lacksProof && (curvature.wouldProve(best) || best.decrease <= target * objective)) sampling.exact
          else sampling.next(best.decrease / objective, best.decrease / before)
        if (shape.hasScale && !majorised && best.slope.isInfinite) renew()
      } else if (!curvature.isFresh || shape.hasScale && !wasMajorised) renew()
      else {
        standing = true
        gap = certify()
      }
      passes.record(objective, gap)
    }
    val converged = gap <= problem.tolerance * objective || vanishes || fades
    val trained = SoftmaxCentre(problem, shape.coefficients(at) ++ workers.intercepts(at))
    LinearSolution(
      trained.take(shape.features * shape.outputs),
      trained.drop(shape.features * shape.outputs),
      FitFacts(rounds = timeline.records, objective = objective, dual = objective - gap, converged = converged),
      inverseDiagonal(model, curvature.vector),
      if (isQuadratic) Some(FirstPass(begun.loss, begun.vector)) else None,
      if (shape.hasScale) Some(at(shape.scale)) else None,
      unbounded,
      stalled = stalls && !converged)
  }

  /** The diagonal of the inverse of the Gram matrix, with the penalty; None unless all variables are in it. */
  private def inverseDiagonal(model: QuadraticModel, gram: Array[Double]): Option[Array[Double]] =
    if (!isQuadratic || problem.penalty.l1 > 0.0) None
    else {
      val n = shape.variables
      val (zeros, norms) = (new Array[Double](n), new Array[Double](n))
      model.minimise(gram, triangles, zeros, zeros, 0.0, norms)
      // A variable that others stand for has no norm.
      if (!norms.forall(_ > 0.0)) None
      else {
        if (problem.intercept) {
          // The least value of v'Mv / 2 - e'v is -e'M^-1 e / 2.
          val row = workers.interceptRow.map(-_)
          norms(n - 1) = math.sqrt(2.0 * model.minimise(gram, triangles, row, zeros, 0.0, null).decrease)
        }
        Some(norms.map(norm => norm * norm / task.facts.labels.totalWeight))
      }
    }

  /** Near the optimum one more pass squares the gap, and coefficients have the digits of its root. */
  private def target: Double = math.min(problem.tolerance, MostGap)

  private def isQuadratic: Boolean = task.loss.selfConcordance.contains(0.0)

  private def start: Array[Double] = {
    val at = problem.initial.fold(new Array[Double](shape.variables)) { case (coefficients, intercepts) =>
      workers.centred(coefficients, intercepts)
    }
    // The gradient of the first pass has the shares of the classes.
    if (problem.initial.isEmpty && shape.hasIntercept && shape.outputs == 1) {
      at(shape.intercept(0)) = task.loss.bestConstant(task.facts.labels).head
    }
    if (shape.hasScale) {
      val labels = task.facts.labels
      val errors = if (shape.hasIntercept) labels.variance else labels.variance + labels.mean * labels.mean
      at(shape.scale) = task.scale.getOrElse(math.sqrt(errors))
    }
    val box = Box.of(problem.bounds, shape)
    at.indices.map(j => box.clip(j, at(j))).toArray
  }

  /** The part of a step that keeps the scale above 0. */
  private def longest(at: Array[Double], step: Array[Double]): Double =
    if (!shape.hasScale || step(shape.scale) >= -Shrinks * at(shape.scale)) 1.0
    else -Shrinks * at(shape.scale) / step(shape.scale)

  private def pass(at: Array[Double], sums: PassSums, reach: Array[Double], what: String): Passed =
    passes.pass(at, sums, reach, None, what)

  private def minimise(
      model: QuadraticModel,
      curvature: Curvature,
      passed: Passed,
      at: Array[Double],
      objective: Double): QuadraticStep = {
    // Norms of unit vectors do not change while the Hessian stays.
    val norms =
      if (isQuadratic || !curvature.isExact || curvature.unitNorms.nonEmpty) null
      else new Array[Double](shape.variables)
    val step = model.minimise(curvature.vector, triangles, passed.gradient, at, objective, norms)
    if (norms != null) curvature.unitNorms = norms
    step
  }
}

private object Newton {

  /** The share of the decrease that the model promises which a step has to bring (Armijo). */
  private val Least = 1e-4

  /** What Newton steps leave, at least, where coefficients grow for ever: 1 / e of the gain, 1 / e^2 by the Hessian before. */
  private val Fading = 0.05

  /** The relative gap that a fit reaches even if the tolerance is larger. */
  private val MostGap = 1e-9

  /** A gap that is rounding beside the objective of the start. */
  private val Vanishing = 1e-15

  /** What rounding may add to an objective. */
  private val Rounding = 1e-13

  /** Rounds with a scale: a fit that comes to an end does so in half of them. */
  private val LastOfScale = 30

  /** The largest part of the scale that a step takes away. */
  private val Shrinks = 0.9

  private val none = Array.emptyDoubleArray
}
