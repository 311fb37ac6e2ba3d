package dwell.solver.newton.leader

import dwell.fit.{ResultHeaders, Timeline}
import dwell.jni.PassLayout
import dwell.record.{FitFacts, RoundRecord}
import dwell.solver.linear.{LinearSolution, SoftmaxCentre}
import dwell.solver.pass.PassSums

/**
 * Newton's method for few features: each round is one pass over the rows, for value, gradient and Hessian of the losses at a model, and
 * one quadratic model that the leader minimises exactly, with its penalty. For the squared loss the Hessian is the Gram matrix, and the sums of
 * the first pass tell the loss of any model. A second pass follows only where rounding may have left more of it than the tolerance allows.
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
 * M cannot tell the curvature of features that others nearly explain from rounding, and the bound above says nothing of them. Near the optimum
 * a pass over their [[Remainders]] tells whether the data have one.
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

  private var at = start

  private val begun = task.first match {
    case Some(first) =>
      PassOutcome(first.loss, 0.0, Seq.empty, 0.0, first.vector, shape, new ResultHeaders(Array.empty), 1.0, 0.0)
    case None => pass(at, PassSums(gradient = true, hessian = true, moments = true), none, "moments")
  }

  /** The sums that tell the loss of any model, where it is squared. */
  private val sums = if (isQuadratic) task.first.orElse(Some(begun.asFirst(at))) else None

  /** The root of the mean square of each entry of a row. */
  private lazy val sizes = begun.secondMoments.map(math.sqrt) ++ Array.fill(if (shape.hasIntercept) 1 else 0)(1.0)

  private var model = QuadraticModel.of(task, begun.variances)
  private val dualValue = DualValue.of(task, model, begun)
  private val scaleBound = ScaleBound.of(task, model)

  private var passed = begun
  private var curvature = new Curvature(passed.vector)
  private var objective = passed.loss + model.penalty(at)
  private val first = objective
  private var best = minimise()

  /** A lower bound of the optimum: each pass bounds the same one, up to rounding. */
  private var dual = Double.NegativeInfinity

  /** The entries of a row that others explain, as the data say. */
  private var explained = Set.empty[Int]

  /** How often the data were asked. */
  private var turns = 0

  /** Whether nothing more can be found out of what the Hessian hides. */
  private var isExhausted = false

  /** A bound of what rounding has changed of the gradient, in the norm of the inverse of M, and of the loss. */
  private var rounding = (0.0, 0.0)

  private var gap = certified()
  private var standing = false
  private var majorised = false

  /** Whether the sums of the first pass were asked for another model. */
  private var isTold = false

  // Where a plane separates some of the rows, coefficients grow for ever, the curvature fades as fast as the slope, and no bound
  // comes. A Newton step then leaves a fixed share, where it otherwise leaves the square.
  private var contraction = 0.0

  /** Iterates until the certificate suffices or no rounds are left. */
  def run(): LinearSolution = {
    timeline.begin(objective, gap)
    while (!done && timeline.rounds < problem.maxRounds) {
      val before = at
      if (hides && !isExhausted && (standing || fading || promised <= target * objective)) reveal() else advance()
      if (passes.any || (at ne before)) passes.record(objective, gap)
    }
    val converged = gap <= problem.tolerance * objective || vanishes || fades
    if (!workers.coordinates.isEmpty) returnToFeatures()
    val trained = SoftmaxCentre(problem, shape.coefficients(at) ++ workers.intercepts(at))
    LinearSolution(
      trained.take(shape.features * shape.outputs),
      trained.drop(shape.features * shape.outputs),
      FitFacts(
        rounds = timeline.records,
        objective = objective,
        dual = objective - gap,
        converged = converged && (gap <= problem.tolerance * objective || vanishes || fades)),
      inverseDiagonal(model, begun.vector),
      sums,
      if (shape.hasScale) Some(at(shape.scale)) else None,
      unbounded,
      stalled = (stalls || isExhausted && !problem.penalty.isNone) && !converged)
  }

  private def done =
    (standing || gap <= target * objective || vanishes || fades || stalls) && (!hides || isExhausted || stalls)

  /** Without errors, or with classes that a plane separates, the objective goes to 0, and no gap is small beside it. */
  private def vanishes: Boolean =
    if (isQuadratic) gap <= Vanishing * first else objective <= problem.tolerance * first

  private def fades: Boolean = fading && (!hides || isExhausted)

  private def fading: Boolean =
    !isQuadratic && !shape.hasScale && problem.penalty.isNone && gap.isInfinite && contraction > Fading &&
      best.decrease <= target * objective

  private def unbounded: Boolean =
    !isQuadratic && !shape.hasScale && vanishes || fades && best.decrease > Rounding * objective

  /** Where few errors are within epsilon scales, or none, the optimum is a corner, which neither kind of step finds. */
  private def stalls: Boolean = shape.hasScale && (standing || timeline.rounds >= LastOfScale)

  /** Near the optimum the next step by the same Hessian proves it. */
  private def keeps: Boolean =
    !shape.hasScale && curvature.isFresh && curvature.knowsNorm && best.decrease <= Near * objective

  /** Whether variables are dropped of which the data have not said that others explain them. */
  private def hides: Boolean =
    dualValue.isEmpty && best.dropped.groupBy(_ % shape.perOutput).exists { case (entry, all) =>
      !explained(entry) && all.size > (if (model.isInvariant(entry)) 1 else 0)
    }

  /** The gap, if what the Hessian hides is nothing. */
  private def promised: Double =
    if (scaleBound.isEmpty) curvature.gapOf(best, isQuadratic, rounding._1) + rounding._2
    else if (best.decrease <= target * objective) 0.0
    else Double.PositiveInfinity

  private def certified(): Double = {
    if (scaleBound.isEmpty) {
      val own = dualValue.fold(if (hides || !best.balanced) Double.PositiveInfinity else promised)(value =>
        objective - value.at(passed))
      dual = math.max(dual, objective - own)
    }
    math.max(objective - dual, math.ulp(objective))
  }

  private def what = s"${timeline.rounds} rounds, Newton"

  /** Takes the Hessian of the model as it is. */
  private def renew(): Unit = {
    majorised = shape.hasScale
    passed = pass(at, PassSums(gradient = true, hessian = true, moments = false, majorised), none, what)
    curvature = new Curvature(passed.vector)
    best = minimise()
    gap = certified()
  }

  /** Whether a step gains less than rounding changes where it leads: along a remainder whose curvature fades it would fit that. */
  private def drowns: Boolean =
    !workers.coordinates.isEmpty && best.decrease <= rounded(model.moved(at, best.step, longest(at, best.step)))

  /** What rounding changes of the objective, in coordinates of remainders. */
  private def rounded(at: Array[Double]): Double = {
    val rounding = workers.coordinates.roundingAt(at, sizes)
    val slope = if (isQuadratic) math.sqrt(2.0 * objective) else 1.0
    rounding * (slope + rounding)
  }

  /** A step, or a part of it, to a model that is no worse. */
  private def advance(): Unit =
    if (drowns) {
      standing = true
      gap = certified()
    } else step()

  private def step(): Unit = {
    val (wasFresh, wasMajorised) = (curvature.isFresh, majorised)
    val whole = longest(at, best.step)
    var length = whole
    var next = model.moved(at, best.step, length)
    val wanted = PassSums(gradient = true, hessian = !isQuadratic && !keeps, moments = false)
    val asked = scaleBound.fold(if (isQuadratic) none else curvature.unitNorms)(_.reach(best.step))
    var trial = told(next).getOrElse {
      rounding = (0.0, 0.0)
      pass(next, wanted, asked, what)
    }
    var reached = trial.loss + model.penalty(next)
    if (!majorised && !hides) {
      scaleBound.foreach(bound => dual = math.max(dual, bound.at(passed, at, best, trial.reach)))
    }
    majorised = false
    if (!(reached <= objective - Least * length * best.decrease + Rounding * objective)) {
      length = whole * passes.shorter(model, at, best.step.map(whole * _), objective)
      if (length > 0.0) {
        next = model.moved(at, best.step, length)
        majorised = shape.hasScale
        rounding = (0.0, 0.0)
        trial = pass(next, wanted.copy(majorise = majorised), asked, what)
        reached = trial.loss + model.penalty(next)
      }
    }
    if (length > 0.0 && reached <= objective + Rounding * objective) {
      at = next
      passed = trial
      objective = reached
      curvature.move(length * best.slope, if (shape.hasScale) 0.0 else passed.reach)
      val before = best.decrease
      if (wanted.hessian) curvature = curvature.replaced(passed.vector)
      best = minimise()
      gap = certified()
      contraction = if (wasFresh) best.decrease / before else 0.0
      if (shape.hasScale && !majorised && !best.balanced) renew()
    } else if (!curvature.isFresh || shape.hasScale && !wasMajorised) renew()
    else {
      standing = true
      gap = certified()
    }
  }

  /** What the sums of the first pass tell of a model; None where rounding may matter. The last model is never told a second time. */
  private def told(next: Array[Double]): Option[PassOutcome] =
    sums.filter(_ => curvature.isOf(begun.vector) && curvature.unitNorms.nonEmpty && !hides && !isTold).flatMap {
      sums =>
        isTold = true
        val loss = sums.squaredLoss(next)
        val error = next.indices.map(j => loss.gradientErrors(j) * curvature.unitNorms(j)).sum
        if (!(0.5 * error * error + loss.lossError <= Rounded * target * (loss.loss + model.penalty(next)))) None
        else {
          rounding = (error, loss.lossError)
          Some(begun.copy(loss = loss.loss, vector = loss.gradient))
        }
    }

  /**
   * Asks the data of what the Hessian hides: a feature that others explain up to rounding is explained. Another one becomes a coordinate of its
   * own, by its remainder, if nothing is penalised.
   */
  private def reveal(): Unit = {
    turns += 1
    val found = model.remainders(curvature.vector, triangles, shape)
    if (turns > MostTurns || found.isEmpty || found.length.toLong * shape.perOutput > MostNumbers) isExhausted = true
    else {
      val rough = unexplained(found)
      if (rough.nonEmpty && problem.penalty.isNone && problem.bounds.isEmpty && !shape.hasScale) {
        val (coordinates, before) = (workers.coordinates, (at, passed, curvature))
        replace(rough)
        // What rounding has left of the features that explain a remainder in it goes in a second turn.
        val fine = unexplained(model.remainders(curvature.vector, triangles, shape, rough.map(_.feature).toSet))
        if (fine.nonEmpty) replace(fine)
        else {
          workers.coordinates = coordinates
          at = before._1
          passed = before._2
          curvature = before._3
          objective = passed.loss
        }
      } else isExhausted = rough.nonEmpty || hides
    }
    model = model.fixing(if (workers.coordinates.isEmpty) Set.empty else explained)
    best = minimise()
    gap = certified()
    standing = false
  }

  /** Those of some combinations of features that are more than rounding in the data, in units of their deviation. */
  private def unexplained(found: Seq[Remainder]): Seq[Remainder] = {
    val squares = passes.squares(workers.coordinates.and(found), what)
    val (nothing, something) = found.zip(workers.coordinates.rounding(found, sizes)).partition {
      case (remainder, rounding) => math.sqrt(squares(remainder.feature)) <= Told * rounding
    }
    explained ++= nothing.map(_._1.feature)
    something.map { case (remainder, _) => remainder.over(math.sqrt(squares(remainder.feature))) }
  }

  /** Makes remainders coordinates. */
  private def replace(remainders: Seq[Remainder]): Unit = {
    at = workers.coordinates.moved(at, remainders)
    workers.coordinates = workers.coordinates.and(remainders)
    passed = pass(at, PassSums(gradient = true, hessian = true, moments = false), none, what)
    objective = passed.loss
    curvature = new Curvature(passed.vector)
  }

  /** Goes from the coordinates of remainders back to those of the features, whose rounding is a part of the gap. */
  private def returnToFeatures(): Unit = {
    dual -= rounded(at)
    at = workers.coordinates.original(at)
    workers.coordinates = Remainders.none(shape)
    objective = pass(at, PassSums.Nothing, none, what).loss
    gap = math.max(objective - dual, math.ulp(objective))
  }

  /** The diagonal of the inverse of the Gram matrix, with the penalty; None unless all variables are in it. */
  private def inverseDiagonal(model: QuadraticModel, gram: Array[Double]): Option[Array[Double]] =
    if (!isQuadratic || problem.penalty.l1 > 0.0) None
    else {
      val n = shape.variables
      val zeros = new Array[Double](n)
      val norms =
        if (curvature.isOf(gram)) curvature.unitNorms.clone()
        else {
          val norms = new Array[Double](n)
          model.minimise(gram, triangles, zeros, zeros, 0.0, norms)
          norms
        }
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

  private def start: Array[Double] = task.first.fold(chosenStart)(_.at)

  private def chosenStart: Array[Double] = {
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

  private def pass(at: Array[Double], sums: PassSums, reach: Array[Double], what: String): PassOutcome =
    passes.pass(at, sums, reach, None, what)

  private def minimise(): QuadraticStep = {
    // Norms of unit vectors do not change while the Hessian stays. Many of them take longer than a pass.
    val isKnown = curvature.unitNorms.nonEmpty
    val isDear = isQuadratic && problem.penalty.l1 > 0.0 && shape.variables > MostNorms
    val norms = if (isKnown || isDear) null else new Array[Double](shape.variables)
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

  /** The relative gain of a step from which on a Hessian serves for one more step. */
  private val Near = 1e-6

  /** A gap that is rounding beside the objective of the start. */
  private val Vanishing = 1e-15

  /** The part of the gap that is aimed at which rounding may have where no pass has looked. */
  private val Rounded = 0.1

  /** Variables of which the norms are worth a pass. */
  private val MostNorms = 512

  /** What rounding may add to an objective. */
  private val Rounding = 1e-13

  /** Rounds with a scale: a fit that comes to an end does so in half of them. */
  private val LastOfScale = 30

  /** The largest part of the scale that a step takes away. */
  private val Shrinks = 0.9

  /** Times the rounding of a combination of features from which it is told from nothing. */
  private val Told = 4.0

  /** How often the data are asked. Each time the spread of the curvatures that they hide shrinks by the digits of a double. */
  private val MostTurns = 8

  /** Weights of remainders that a message may hold. */
  private val MostNumbers = 1L << 22

  private val none = Array.emptyDoubleArray
}
