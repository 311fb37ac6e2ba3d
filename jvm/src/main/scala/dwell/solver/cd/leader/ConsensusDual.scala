package dwell.solver.cd.leader

import dwell.data.rows.RowSummary
import dwell.fit.ResultHeaders
import dwell.jni.CdLayout
import dwell.problem.{LabelFacts, MarginLoss}
import dwell.solver.cd.step.{LineSearch, StepFunction}
import dwell.solver.linear.LinearProblem

/**
 * Dual CoCoA by over-relaxed consensus ADMM (Boyd et al., "Distributed Optimization and Statistical Learning via the
 * Alternating Direction Method of Multipliers", 2011, sections 7.1 and 3.4.3), with the local solver of CoCoA.
 *
 * For losses whose dual variables have bounds, added and searched steps are slow on static partitions. The dual value
 * is soon good, but the workers disagree on the coefficients of shared features, and the hinge loss grows linearly with
 * the disagreement (bench/results/hinge-rounds.md). In ADMM every worker k has coefficients of its own,
 * `w_k = shared + sigma' Z_k(a' - r)`. It starts from the dual variables r, which may be out of their bounds, and finds
 * a', which are within them. The leader averages:
 *
 * {{{
 *   r      <- r + alpha (a' - r)
 *   middle <- soft(m, tau thresholds) / (1 + tau),   m = middle + (1 - alpha) lag + tau Z(r),   tau_j = sigma' / K_j
 *   lag    <- old middle - middle + (1 - alpha) lag
 *   shared <- middle - lag
 * }}}
 *
 * K_j is the number of workers that hold feature j. The workers' multipliers follow from r, so neither the workers nor
 * the leader keep one vector per worker. With tau = 1 and alpha = 1 this is plain adding. The intercept is one more
 * feature, without a regulariser. Neither bound is monotone; the leader keeps the best of each.
 *
 * @param holders
 *   K_j; null if there is one worker
 */
private[solver] final class ConsensusDual(
    data: RowSummary,
    holders: Array[Int],
    n: Int,
    labels: LabelFacts,
    loss: MarginLoss,
    problem: LinearProblem,
    initialIntercept: Option[Double],
    adds: Boolean)
    extends DualLeader(data, n, labels, loss, problem) {
  import ConsensusDual._

  private val workers = data.numPartitions
  private val adding = adds || workers == 1
  private var relaxation = if (adding) 1.0 else Relaxation
  private var quadratic = if (adding) workers.toDouble else initialSigmaPrime(workers)

  private val leastQuadratic = quadratic / FallsTo
  private var guarded = adding

  /** The relative gap when it last fell well, and the rounds since then. They tell whether the rounds make progress. */
  private var lastGap = Double.PositiveInfinity
  private var idleRounds = 0

  /** Z and kappa of r. */
  private val relaxed = new Array[Double](n)
  private var relaxedKappa = 0.0
  private val middle = new Array[Double](n)
  private val lag = new Array[Double](n)
  private var middleIntercept = initialIntercept.getOrElse(interceptAlone)
  private var lagIntercept = 0.0

  /** Z, kappa and C of the last a'. */
  private val proposed = new Array[Double](n)
  private var proposedKappa = 0.0
  private var proposedConjugate = 0.0
  private var started = false

  override protected def leastNu: Double = 0.0

  override protected def intercept: Double = middleIntercept - lagIntercept

  override def sigmaPrime: Double = quadratic

  override def points: Array[Double] = Array.emptyDoubleArray

  /** Measured: more than 2 epochs do not lower the number of rounds (bench/results/2026-11-21-spark). */
  override def mostLocalWork: Double = 4.0

  /** A dual variable that no step visits could stay out of its bounds, and there would be no dual value. */
  override def wholeEpochs: Boolean = true

  override def step(update: Array[Double], headers: ResultHeaders): (Double, Double) = {
    val kappaUpdate = headers.sum(CdLayout.KAPPA)
    centre(update, kappaUpdate)
    var j = 0
    while (j < n) {
      proposed(j) = relaxed(j) + update(j)
      j += 1
    }
    proposedKappa = relaxedKappa + kappaUpdate
    proposedConjugate = headers.sum(CdLayout.VALUE_AFTER)
    raiseBound(proposed, proposedKappa, proposedConjugate)
    val factor = if (started) relaxation else first
    j = 0
    while (j < n) {
      relaxed(j) += factor * update(j)
      j += 1
    }
    relaxedKappa += factor * kappaUpdate
    if (started) {
      average()
      if (!guarded) use(math.max(leastQuadratic, Falling * quadratic))
    } else begin()
    guard()
    (factor, 0.0)
  }

  /**
   * Keeps the averaging from circling, which can happen because an epoch replaces the exact local solution. If the gap
   * has not fallen well for some rounds, it first removes the relaxation. After that it makes the local models safer
   * step by step, up to the steps of plain adding, which never circles.
   */
  private def guard(): Unit = {
    val gap = (upperBound - lowerBound) / upperBound
    if (gap < WellFallen * lastGap) {
      lastGap = gap
      idleRounds = 0
    } else idleRounds += 1
    if (idleRounds >= PatienceRounds) {
      idleRounds = 0
      lastGap = gap
      guarded = true
      if (relaxation > 1.0) relaxation = 1.0 else use(math.min(workers.toDouble, 2.0 * quadratic))
    }
  }

  /** Changes to another sigma'; the multipliers keep their value. */
  private def use(next: Double): Unit = if (next != quadratic) {
    var j = 0
    while (j < n) {
      lag(j) *= next / quadratic
      w(j) = middle(j) - lag(j)
      j += 1
    }
    lagIntercept *= next / quadratic
    quadratic = next
  }

  /**
   * The factor of the first step, which goes towards the workers' dual variables as far as the dual value rises: those
   * of a worker fit its own rows only. C is convex and 0 at the start, so C along the way is at most its share of C at
   * the end.
   */
  private def first: Double = {
    val along =
      regulariserAlong(relaxed, proposed, relaxed) + StepFunction.quadratic(proposedConjugate, 0.0, 0.0, 0.0, 0.0)
    math.max(0.0, math.min(1.0, LineSearch.minimise(along)._1))
  }

  /** Starts with all workers at the coefficients of r. */
  private def begin(): Unit = {
    started = true
    var j = 0
    while (j < n) {
      middle(j) = coefficientOf(relaxed(j), scaleOf(j))
      lag(j) = 0.0
      w(j) = middle(j)
      j += 1
    }
    middleIntercept = intercept
    lagIntercept = 0.0
  }

  /** The leader's step in the formula above. */
  private def average(): Unit = {
    var j = 0
    while (j < n) {
      val tau = if (quadratic < workers) quadratic / math.max(1, holders(j)) else 1.0
      val kept = (1.0 - relaxation) * lag(j)
      val next = soft(middle(j) + kept + tau * relaxed(j), scaleOf(j), tau) / (1.0 + tau)
      lag(j) = middle(j) - next + kept
      middle(j) = next
      w(j) = next - lag(j)
      j += 1
    }
    val kept = (1.0 - relaxation) * lagIntercept
    val next = middleIntercept + kept + quadratic / workers * nu * relaxedKappa
    lagIntercept = middleIntercept - next + kept
    middleIntercept = next
  }

  /** Takes the whole last step, so that the final dual variables are within their bounds. */
  override def settle(verdict: (Double, Double)): (Double, Double) =
    if (verdict._1 == 0.0) verdict
    else {
      System.arraycopy(proposed, 0, relaxed, 0, n)
      relaxedKappa = proposedKappa
      (1.0, 0.0)
    }

  override def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit = {
    val carried = relaxed.clone()
    System.arraycopy(product, 0, relaxed, 0, n)
    relaxedKappa = headers.sum(CdLayout.KAPPA)
    centre(relaxed, relaxedKappa)
    val conjugate = headers.sum(CdLayout.VALUE_BEFORE)
    if (continues) measureDrift(regulariser(relaxed, 0.0), regulariser(carried, 0.0))
    else begin()
    // Relaxed dual variables may be out of their bounds. C is then infinite, and there is no dual value.
    if (!conjugate.isInfinite) raiseBound(relaxed, relaxedKappa, conjugate)
  }
}

private[solver] object ConsensusDual {

  /** Measured: 1.6 stalls with one epoch a round, and 1 needs a third more rounds. */
  private val Relaxation = 1.4

  /**
   * sigma' falls by the factor `Falling` a round, down to its initial value over `FallsTo`. Early rounds need a large
   * value, and a small penalty needs a small one.
   */
  private val Falling = 0.97
  private val FallsTo = 3.0

  /** A gap that has fallen by less than a tenth in `PatienceRounds` rounds is not falling. */
  private val WellFallen = 0.9
  private val PatienceRounds = 10

  /**
   * The first sigma', relative to the one that is safe for one worker. It needed few rounds with 2 to 16 workers
   * (bench/results/hinge-rounds.md).
   */
  private def initialSigmaPrime(workers: Int): Double = math.min(workers / 4.0, math.sqrt(workers / 4.0))
}
