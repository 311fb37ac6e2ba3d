package dwell.solver.average

/**
 * The measurements of a round of local descent.
 *
 * @param lossSum
 *   sum of the weighted losses of the rows, each before its step
 * @param weightSum
 *   sum of the weights of these rows
 * @param penalty
 *   max(penalty at the start of the round, mean penalty of the workers' models at its end). The mean of the two would
 *   be too low if the first rows move the models most of the way, and the next epoch would then look like a rise
 * @param diverged
 *   whether descent diverged on a worker
 * @param steps
 *   rows that each partition has visited at the end of the round, as the step schedule counts them
 * @param cursors
 *   position of each partition in its order of rows
 */
private[solver] final case class AveragedRound(
    lossSum: Double,
    weightSum: Double,
    penalty: Double,
    diverged: Boolean,
    steps: Array[Long],
    cursors: Array[Long])

/** Sums over the rounds of the present epoch, which are judged together. */
private[solver] final case class EpochSums(rounds: Int, lossSum: Double, weightSum: Double, penaltySum: Double) {

  /** The sums with one more round. */
  def and(round: AveragedRound): EpochSums =
    EpochSums(rounds + 1, lossSum + round.lossSum, weightSum + round.weightSum, penaltySum + round.penalty)

  /** Mean loss plus mean penalty. */
  def objective: Double = lossSum / weightSum + penaltySum / rounds
}

private[solver] object EpochSums {
  val empty: EpochSums = EpochSums(0, 0.0, 0.0, 0.0)
}

/**
 * The growth of a searched first step size, which doubles after epochs that made progress. The search is a single pass
 * over a sample of one partition. Later epochs, and averages of several workers, allow longer steps than its best one.
 *
 * @param averaged
 *   a shorter step than this doubles after any progress. The average of K models moves as far as one model with a Kth
 *   of the rows, so K times the searched step corresponds to the search
 * @param most
 *   the longest step
 */
private[solver] final case class Growth(averaged: Double, most: Double) {

  /**
   * The first step size of the next epoch.
   *
   * @param eta0
   *   first step size of the last epoch
   * @param gain
   *   relative decrease of the objective in the last epoch
   */
  def after(eta0: Double, gain: Double): Double =
    if (eta0 < averaged || gain <= Growth.ModestGain) math.max(eta0, math.min(2.0 * eta0, most)) else eta0
}

private[solver] object Growth {

  /** If an epoch gains more than this, longer steps do not lead to better models. */
  private val ModestGain = 5e-2
}

/**
 * The progress of model averaging by local descent, and its change by a round. It compares only epochs with the same step size, because
 * the losses that the workers measure depend on it. It travels to the workers with each round, so that a later leader
 * can continue from it.
 *
 * @param current
 *   version of the model that the next round starts from
 * @param begun
 *   version of the model that this epoch began with
 * @param before
 *   version of the model that the epoch before it began with
 * @param next
 *   version of the model that the next round produces
 * @param rounds
 *   completed rounds, without those whose models are lost
 * @param eta0
 *   first step size, after all doublings and halvings so far
 * @param growth
 *   how the step grows; None if it no longer grows, or never did
 * @param steps
 *   rows that each partition has visited, as the step schedule counts them
 * @param stepsBegun
 *   `steps` when this epoch began
 * @param cursors
 *   position of each partition in its order of rows
 * @param epoch
 *   sums over the rounds of this epoch
 * @param objective
 *   lowest objective of an epoch with this step size; if `fresh`, the objective of the last epoch with another step size
 * @param objectiveBefore
 *   `objective` before the last epoch
 * @param seen
 *   objective of this epoch so far, for the reports
 * @param retried
 *   whether this epoch began again because its objective had risen
 * @param fresh
 *   whether no epoch has ended yet with this step size
 * @param waited
 *   epochs since the last progress
 * @param stalled
 *   halvings in a row that had no effect
 * @param note
 *   the change that the last round caused, for the reports; empty if there was none
 */
private[solver] final case class AveragingProgress(
    current: Long,
    begun: Long,
    before: Long,
    next: Long,
    rounds: Int,
    eta0: Double,
    growth: Option[Growth],
    steps: Array[Long],
    stepsBegun: Array[Long],
    cursors: Array[Long],
    epoch: EpochSums,
    objective: Double,
    objectiveBefore: Double,
    seen: Double,
    retried: Boolean,
    fresh: Boolean,
    waited: Int,
    stalled: Int,
    note: String)
    extends AveragedRounds.Progress[AveragingProgress] {
  import AveragingProgress._

  /** Whether more rounds are pointless. */
  def exhausted: Boolean = stalled >= MostStalled || eta0 < LeastStep

  override def from(version: Long): AveragingProgress =
    copy(
      current = version,
      begun = version,
      before = version,
      next = version + 1L,
      epoch = EpochSums.empty,
      seen = objective,
      note = "")

  /**
   * The progress after the round that has produced model `next`.
   *
   * @param roundsOfEpoch
   *   rounds that are judged together
   * @param tolerance
   *   relative decrease in an epoch up to which it counts as no progress
   * @param rise
   *   relative increase up to which it may not be one
   */
  def after(
      round: AveragedRound,
      roundsOfEpoch: Int,
      tolerance: Double,
      rise: Double = AveragingProgress.Rise): AveragingProgress = {
    val sums = epoch.and(round)
    val made = copy(current = next, next = next + 1L, rounds = rounds + 1, cursors = round.cursors, note = "")
    if (round.diverged) made.backwards("descent diverged")
    else if (sums.rounds < roundsOfEpoch) made.copy(epoch = sums, seen = sums.objective, steps = round.steps)
    else if (!(sums.objective <= objective * (1.0 + rise))) {
      made.backwards(f"objective rose to ${sums.objective}%.6g")
    } else made.copy(steps = round.steps).forwards(sums.objective, tolerance)
  }

  /** After an epoch whose objective did not rise. */
  private def forwards(reached: Double, tolerance: Double): AveragingProgress = {
    val gain = (objective - reached) / math.abs(objective)
    val progresses = fresh || gain > tolerance
    val standsStill = !progresses && waited + 1 >= Patience
    val grown = if (gain > tolerance) growth.map(_.after(eta0, gain)) else None
    val eta = if (standsStill) eta0 / 2.0 else grown.getOrElse(eta0)
    copy(
      begun = current,
      before = begun,
      eta0 = eta,
      growth = if (standsStill) None else growth,
      stepsBegun = steps,
      epoch = EpochSums.empty,
      objective = if (progresses || standsStill) reached else objective,
      objectiveBefore = objective,
      seen = reached,
      retried = false,
      fresh = standsStill,
      waited = if (progresses || standsStill) 0 else waited + 1,
      stalled = if (!fresh) stalled else if (math.abs(gain) <= tolerance) stalled + 1 else 0,
      note = if (standsStill) f"little progress: step size halved to $eta%.3g" else "")
  }

  /** After divergence or a rise: back to an earlier model, with half the step size. */
  private def backwards(why: String): AveragingProgress = {
    val back = if (retried) before else begun
    // Shorter steps make less progress than the longer ones had made from that model, so the objective to compare with
    // goes back too.
    val measure = if (retried) objectiveBefore else objective
    val eta = eta0 / 2.0
    copy(
      current = back,
      begun = back,
      eta0 = eta,
      growth = None,
      steps = stepsBegun,
      epoch = EpochSums.empty,
      objective = measure,
      seen = measure,
      retried = true,
      fresh = true,
      waited = 0,
      stalled = 0,
      note = f"$why: back to the average before, step size halved to $eta%.3g")
  }
}

private[solver] object AveragingProgress {

  /** The progress before the first round, from a model with this objective. */
  def start(objective: Double, eta0: Double, growth: Option[Growth], partitions: Int): AveragingProgress = {
    val none = new Array[Long](partitions)
    AveragingProgress(
      current = 0L,
      begun = 0L,
      before = 0L,
      next = 1L,
      rounds = 0,
      eta0 = eta0,
      growth = growth,
      steps = none,
      stepsBegun = none,
      cursors = none,
      epoch = EpochSums.empty,
      objective = objective,
      objectiveBefore = objective,
      seen = objective,
      retried = false,
      fresh = false,
      waited = 0,
      stalled = 0,
      note = "")
  }

  /** Halvings in a row without an effect, after which another one would not help. */
  private val MostStalled = 2

  /** Epochs without progress that noise may explain. */
  private val Patience = 2

  /** A step size that no longer changes the model. */
  private val LeastStep = Double.MinPositiveValue * 1e16

  /**
   * A rise up to this may not be one. Workers fit their own rows between two averages, so the losses that they measure
   * are too low, by an amount that shrinks with the step size.
   */
  val Rise = 1e-2
}
