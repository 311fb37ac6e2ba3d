package dwell.fit

import org.apache.spark.internal.Logging

import dwell.comm.ModelLostException

/**
 * Rounds on models that workers hold, which are lost with executors now and then.
 *
 * @param uid
 *   of the estimator, for the log
 */
private[dwell] final class LostModels(uid: String) extends Logging {

  /** Models lost since the last round that was made. */
  private var losses = 0

  /** To be called after each round. */
  def roundMade(): Unit = losses = 0

  /**
   * Makes the rounds, from what is left whenever a model was lost.
   *
   * @throws ModelLostException
   *   where several were lost with no round between them: models do not stay anywhere
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
