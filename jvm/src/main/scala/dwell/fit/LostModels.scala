package dwell.fit

import org.apache.spark.internal.Logging

import dwell.comm.ModelLostException

/**
 * Runs rounds on models that workers hold, and survives the loss of such a model with its executor.
 *
 * @param uid
 *   uid of the estimator, for the log
 */
private[dwell] final class LostModels(uid: String) extends Logging {

  /** Models lost since the last completed round. */
  private var losses = 0

  /** Notes that a round is complete. The rounds call it after each one. */
  def roundMade(): Unit = losses = 0

  /**
   * Runs the rounds. After each lost model it runs them again, from what is left.
   *
   * @throws ModelLostException
   *   after five losses without a round between them, when another model is lost
   */
  def outlived[T](rounds: => T): T = {
    var result = Option.empty[T]
    while (result.isEmpty) {
      try result = Some(rounds)
      catch {
        case e: ModelLostException if losses < LostModels.Most =>
          losses += 1
          logWarning(s"$uid: ${e.getMessage}; the rounds go on from what is left")
      }
    }
    result.get
  }
}

private object LostModels {
  private val Most = 5
}
