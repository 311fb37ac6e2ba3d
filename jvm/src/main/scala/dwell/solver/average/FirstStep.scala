package dwell.solver.average

/**
 * The first step size, found as Bottou does (Stochastic Gradient Descent Tricks, 2012, section 5.1): local descent over
 * a sample with steps that differ by factors of 2; the best one gives the lowest objective. The objective is measured
 * at rows that descent has not visited, because a long step fits the visited ones too closely.
 *
 * @param start
 *   where the search starts
 * @param largest
 *   the longest step
 * @param spread
 *   candidates are 2^-spread to 2^spread times the middle
 * @param slack
 *   an objective that is this much higher than the lowest one, relative to it, is as good: the longest such step is taken
 */
private[solver] final class FirstStep(start: Double, largest: Double, spread: Int, slack: Double) {
  import FirstStep._

  /**
   * Runs the search.
   *
   * @param objectives
   *   the objective that each candidate reaches; not finite if it diverges
   * @return
   *   a step size that did not diverge on any sample, if there was one
   */
  def run(objectives: Array[Double] => Array[Double]): Double = {
    var middle = bounded(start)
    var best = middle
    var attempts = 0
    var searching = true
    while (searching) {
      val candidates = (-spread to spread).map(e => bounded(Math.scalb(middle, e))).distinct.toArray
      attempts += 1
      longest(objectives(candidates)) match {
        // Nearly everything diverges: the steps are far too long.
        case None => middle = Math.scalb(middle, -2 * spread)
        case Some(i) =>
          best = candidates(i)
          val onEdge = i == 0 || (i == candidates.length - 1 && best < largest)
          if (!onEdge) searching = false
          else middle = bounded(Math.scalb(best, if (i == 0) 1 - spread else spread - 1))
      }
      if (attempts == MostAttempts) searching = false
    }
    best
  }

  /** The last of those objectives that are as good as the lowest one. */
  private def longest(objectives: Array[Double]): Option[Int] = {
    val finite = objectives.filter(java.lang.Double.isFinite(_))
    if (finite.isEmpty) None else Some(objectives.lastIndexWhere(_ <= finite.min * (1.0 + slack)))
  }

  private def bounded(step: Double): Double = math.min(step, largest)
}

private object FirstStep {
  private val MostAttempts = 8
}
