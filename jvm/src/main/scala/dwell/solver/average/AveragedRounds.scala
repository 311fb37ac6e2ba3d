package dwell.solver.average

import org.apache.spark.internal.Logging

import dwell.comm.ModelLostException
import dwell.fit.{Attempt, Timeline}

/**
 * Rounds of a fit whose workers all hold the average of their models. They begin from the newest average that the workers
 * hold, and survive the loss of one with its executors.
 *
 * @tparam P
 *   progress of the rounds. It travels with each average, so that a later leader can go on from it
 * @tparam R
 *   result of the rounds
 * @param uid
 *   uid of the estimator, for the log
 */
private[solver] abstract class AveragedRounds[P <: AveragedRounds.Progress[P], R](
    workers: ModelWorkers[_, _],
    uid: String,
    attempt: Attempt,
    timeline: Timeline)
    extends Logging {

  /** The highest version that a model may have. */
  private var highest = -1L

  /** Averages lost since the last completed round. */
  private var losses = 0

  /** Makes the first model of the workers, as version `version`. */
  protected def first(version: Long): P

  /** Whether no round is left. */
  protected def ended(progress: P): Boolean

  /** Makes the next round, which begins at `clock`, and calls [[madeBy]] with the workers' answer. */
  protected def round(progress: P, clock: Long): P

  /** The result after the last round. */
  protected def result(progress: P): R

  /** Runs all rounds. */
  final def run(): R = {
    var done = Option.empty[R]
    while (done.isEmpty) {
      try done = Some(rounds())
      catch {
        case e: ModelLostException if losses < AveragedRounds.MostLosses =>
          losses += 1
          logWarning(s"$uid: ${e.getMessage}; the rounds go on from what is left")
      }
    }
    done.get
  }

  private def rounds(): R = {
    var progress = begun()
    while (!ended(progress)) {
      highest = progress.next
      progress = round(progress, System.nanoTime())
    }
    result(progress)
  }

  /** Notes that the workers have made a round, which ends a series of losses. */
  protected final def madeBy[T](answer: T): T = {
    losses = 0
    answer
  }

  /** Begins from the newest average of this attempt or an earlier one; without one from the first model. */
  private def begun(): P = workers.recover() match {
    case Some(found) =>
      highest = math.max(highest, found.version) + 1L
      val progress = found.note.asInstanceOf[P].from(highest)
      timeline.goOn(progress.rounds, attempt)
      workers.distribute(highest, found.model, Some(progress))
      progress
    case None =>
      highest += 1L
      timeline.goOn(0, attempt)
      first(highest)
  }
}

private[solver] object AveragedRounds {

  /** The progress of rounds. */
  trait Progress[P] extends Serializable {

    /** Completed rounds, without those whose models are lost. */
    def rounds: Int

    /** Version of the model that the next round produces. */
    def next: Long

    /** The progress under a new version of its model, when the workers hold no other model. */
    def from(version: Long): P
  }

  /** Losses in a row, without a round between them, after which another one ends the fit. */
  private val MostLosses = 5
}
