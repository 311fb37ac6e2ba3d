package dwell.solver.sgd.leader

/**
 * What the workers of a round of local descent have met.
 *
 * @param lossSum
 *   of the rows, each before its step
 * @param weightSum
 *   of these rows
 * @param penalty
 *   the larger one of the model that the round started from and of those that it has led to: what is half-way between
 *   them is too little where the first rows lead most of the way, and the next epoch would look like a rise
 * @param steps
 *   rows that each partition has visited by then, as step sizes count them
 * @param cursors
 *   place of each partition in its order of rows
 */
private[sgd] final case class AveragedRound(
    lossSum: Double,
    weightSum: Double,
    penalty: Double,
    diverged: Boolean,
    steps: Array[Long],
    cursors: Array[Long])

/** The rounds of an epoch so far, which are judged together. */
private[sgd] final case class EpochSums(rounds: Int, lossSum: Double, weightSum: Double, penaltySum: Double) {

  def and(round: AveragedRound): EpochSums =
    EpochSums(rounds + 1, lossSum + round.lossSum, weightSum + round.weightSum, penaltySum + round.penalty)

  /** Mean of the losses, and of the penalties. */
  def objective: Double = lossSum / weightSum + penaltySum / rounds
}

private[sgd] object EpochSums {
  val empty: EpochSums = EpochSums(0, 0.0, 0.0, 0.0)
}

/**
 * A first step that was searched is doubled after epochs that made progress: the search is a single pass over a sample
 * of one partition, and its best step is shorter than what later epochs, and averages of several workers, stand.
 *
 * @param averaged
 *   as long as the step is shorter than this, it is doubled however large the progress: the average of K models moves
 *   as far as one of them that has a Kth of the rows, so that K times the step is what the search was for
 * @param most
 *   the longest step
 */
private[sgd] final case class Growth(averaged: Double, most: Double) {

  /** The step after an epoch with this one, and what the epoch has gained. */
  def after(eta0: Double, gain: Double): Double =
    if (eta0 < averaged || gain <= Growth.ModestGain) math.max(eta0, math.min(2.0 * eta0, most)) else eta0
}

private[sgd] object Growth {

  /** Where an epoch gains more, longer steps do not lead to better models. */
  private val ModestGain = 5e-2
}

/**
 * Where the rounds of model averaging stand, and what follows from a round. Epochs are compared with one another where
 * they had the same step size: the losses that workers meet depend on it. It goes to the workers with each round, so
 * that whoever has to lead next can go on.
 *
 * @param current
 *   version of the model that the next round starts from
 * @param begun
 *   of the one that this epoch began with
 * @param before
 *   of the one that the epoch before it began with
 * @param next
 *   of the model that the next round makes
 * @param rounds
 *   that have been made, of those whose models are not lost
 * @param eta0
 *   first step size, doubled and halved so far as it had to be
 * @param growth
 *   how the step grows; None where that has ended, or is not wanted
 * @param steps
 *   rows that each partition has visited, as step sizes count them
 * @param stepsBegun
 *   the same when this epoch began
 * @param cursors
 *   place of each partition in its order of rows
 * @param objective
 *   the lowest of an epoch with this step size; that of the last one with another step size where it is `fresh`
 * @param objectiveBefore
 *   the same before the last epoch
 * @param seen
 *   of this epoch as far as it has come, for those who watch
 * @param retried
 *   whether this epoch began again since its objective had risen
 * @param fresh
 *   whether no epoch has ended yet with this step size
 * @param waited
 *   epochs since the last progress
 * @param stalled
 *   halvings in a row that changed nothing
 * @param slow
 *   whether the last epoch made little progress
 * @param note
 *   what the last round led to, if it was worth telling
 */
private[sgd] final case class AveragingProgress(
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
    slow: Boolean,
    note: String) {
  import AveragingProgress._

  /** Whether more rounds would not help. */
  def exhausted: Boolean = stalled >= MostStalled || eta0 < LeastStep

  /** The same from another version of its model, the only one there is. */
  def from(version: Long): AveragingProgress =
    copy(
      current = version,
      begun = version,
      before = version,
      next = version + 1L,
      epoch = EpochSums.empty,
      seen = objective,
      note = "")

  /**
   * After the round that has made model `next`.
   *
   * @param roundsOfEpoch
   *   rounds that are judged together
   * @param tolerance
   *   relative progress in an epoch that is none to speak of
   */
  def after(round: AveragedRound, roundsOfEpoch: Int, tolerance: Double): AveragingProgress = {
    val sums = epoch.and(round)
    val made = copy(current = next, next = next + 1L, rounds = rounds + 1, cursors = round.cursors, note = "")
    if (round.diverged) made.backwards("descent diverged")
    else if (sums.rounds < roundsOfEpoch) made.copy(epoch = sums, seen = sums.objective, steps = round.steps)
    else if (!(sums.objective <= objective * (1.0 + Rise))) {
      made.backwards(f"objective rose to ${sums.objective}%.6g")
    } else made.copy(steps = round.steps).forwards(sums.objective, tolerance)
  }

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
      slow = gain <= SlowGain,
      note = if (standsStill) f"little progress: step size halved to $eta%.3g" else "")
  }

  private def backwards(why: String): AveragingProgress = {
    val back = if (retried) before else begun
    // From there on shorter steps make less progress than the longer ones had made: what they are measured against goes
    // back as well.
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

private[sgd] object AveragingProgress {

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
      slow = false,
      note = "")
  }

  /** Halvings in a row after which another one would not help. */
  private val MostStalled = 2

  /** Epochs without progress that noise may explain. */
  private val Patience = 2

  /** A step that moves nothing. */
  private val LeastStep = Double.MinPositiveValue * 1e16

  /** Less than a hundredth in an epoch: a method of second order does better from there. */
  private val SlowGain = 1e-2

  /**
   * A rise beyond what may be none: workers fit their own rows between two averages, and the losses that they meet are
   * too low by an amount that becomes smaller with the step size.
   */
  private val Rise = 1e-2
}
