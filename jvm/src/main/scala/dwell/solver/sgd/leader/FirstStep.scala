package dwell.solver.sgd.leader

import dwell.solver.problem.StepSchedule
import dwell.solver.sgd.contract.SearchCall

/**
 * The first step size, found as Bottou does (Stochastic Gradient Descent Tricks, 2012, section 5.1): local descent over
 * a sample with steps that differ by factors of 2; the best is the one that leads to the lowest objective. It is
 * measured at rows that descent has not seen, since a long step learns those that it has seen by heart.
 */
private[sgd] final class FirstStep(workers: SgdWorkers, task: SgdTask) {
  import FirstStep._

  /**
   * @param from
   *   the model to start from
   * @return
   *   a step size that did not diverge on any sample
   */
  def run(from: Long, schedule: StepSchedule): Double = {
    // A step cannot overshoot along a row whose square norm is the mean one.
    var middle = bounded(1.0 / (curvature * math.max(task.facts.meanSquareNorm + 1.0, Double.MinPositiveValue)))
    var best = middle
    var attempts = 0
    var searching = true
    while (searching) {
      val candidates = (-Spread to Spread).map(e => bounded(math.scalb(middle, e))).distinct.toArray
      val objectives = workers.search(SearchCall(schedule, candidates, SampleRows), from)
      val at = objectives.indices.filter(i => java.lang.Double.isFinite(objectives(i))).minByOption(objectives(_))
      attempts += 1
      at match {
        // Nearly everything diverges: the steps are far too long.
        case None => middle = math.scalb(middle, -2 * Spread)
        case Some(i) =>
          best = candidates(i)
          val onEdge = i == 0 || (i == candidates.length - 1 && best < largest)
          if (!onEdge) searching = false
          else middle = bounded(math.scalb(best, if (i == 0) 1 - Spread else Spread - 1))
      }
      if (attempts == MostAttempts) searching = false
    }
    best
  }

  /** A step may shrink the coefficients by the penalty, and must not turn them round. */
  val largest: Double = if (task.sgd.l2 > 0.0) MostDecay / task.sgd.l2 else Double.MaxValue

  private def bounded(step: Double): Double = math.min(step, largest)

  private def curvature: Double = math.min(task.sgd.loss.curvature, SteepestCurvature)
}

private[sgd] object FirstStep {

  /** Candidates are 2^-8 to 2^8 times the middle. */
  private val Spread = 8

  private val MostAttempts = 8

  /** As Bottou takes. */
  private val SampleRows = 1000L

  private val MostDecay = 0.5

  /** The hinge has no curvature bound; this one only says where the search starts. */
  private val SteepestCurvature = 1.0
}
