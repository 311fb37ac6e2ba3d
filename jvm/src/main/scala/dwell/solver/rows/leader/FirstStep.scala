package dwell.solver.rows.leader

import dwell.problem.StepSchedule
import dwell.solver.rows.worker.SearchCall

/**
 * The first step size, found as Bottou does (Stochastic Gradient Descent Tricks, 2012, section 5.1): local descent over
 * a sample with steps that differ by factors of 2; the best one gives the lowest objective. The objective is measured
 * at rows that descent has not visited, because a long step fits the visited ones too closely.
 */
private[rows] final class FirstStep(workers: SgdWorkers, task: RowTask, meanSquareNorm: Double) {
  import FirstStep._

  /**
   * Runs the search.
   *
   * @param from
   *   version of the model to start from
   * @return
   *   a step size that did not diverge on any sample, if there was one
   */
  def run(from: Long, schedule: StepSchedule): Double = {
    // With this step size a step cannot overshoot along a row of mean square norm.
    var middle = bounded(1.0 / (curvature * math.max(meanSquareNorm + 1.0, Double.MinPositiveValue)))
    var best = middle
    var attempts = 0
    var searching = true
    while (searching) {
      val candidates = (-Spread to Spread).map(e => bounded(Math.scalb(middle, e))).distinct.toArray
      val objectives = workers.search(SearchCall(schedule, candidates, SampleRows), from)
      val at = objectives.indices.filter(i => java.lang.Double.isFinite(objectives(i))).sortBy(objectives(_)).headOption
      attempts += 1
      at match {
        // Nearly everything diverges: the steps are far too long.
        case None => middle = Math.scalb(middle, -2 * Spread)
        case Some(i) =>
          best = candidates(i)
          val onEdge = i == 0 || (i == candidates.length - 1 && best < largest)
          if (!onEdge) searching = false
          else middle = bounded(Math.scalb(best, if (i == 0) 1 - Spread else Spread - 1))
      }
      if (attempts == MostAttempts) searching = false
    }
    best
  }

  /** The longest step: the penalty may shrink the coefficients, but must not reverse their signs. */
  val largest: Double = if (task.objective.penalty.l2 > 0.0) MostDecay / task.objective.penalty.l2 else Double.MaxValue

  private def bounded(step: Double): Double = math.min(step, largest)

  private def curvature: Double = math.min(task.objective.loss.curvature, SteepestCurvature)
}

private[rows] object FirstStep {

  /** Candidates are 2^-8 to 2^8 times the middle. */
  private val Spread = 8

  private val MostAttempts = 8

  /** Bottou's number. */
  private val SampleRows = 1000L

  private val MostDecay = 0.5

  /** Stands for the curvature bound of the hinge, which has none; it only decides where the search starts. */
  private val SteepestCurvature = 1.0
}
