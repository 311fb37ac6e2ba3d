package dwell.ml.training

import dwell.data.TrainingRows
import dwell.fit.ChangedInput
import dwell.solver.LinearTrainer

/**
 * The training data of one or several fits. The first fit reads it, unless it was read before, and `close` releases it. Fits that share
 * it take turns.
 */
private[ml] final class SharedRows(readBefore: Option[LinearTrainer] = None) extends AutoCloseable {
  private var opened: Option[LinearTrainer] = readBefore
  private var closed = false

  /** The length of the feature vectors, if it is known before a fit. */
  val vectorLength: Option[Int] = readBefore.map(_.rows.vectorLength)

  /** Which fits come first, where that is planned. */
  val turns = new Turns

  /**
   * Runs `body` on the data. Calls `read` first if no other fit has, and again if the data has changed, see
   * [[ChangedInput.outlived]].
   *
   * @param uid
   *   uid of the estimator, for the log
   * @throws IllegalStateException
   *   if the data was released
   */
  def use[T](uid: String, read: => TrainingRows)(body: (TrainingRows, LinearTrainer) => T): T = {
    turns.await()
    try synchronized(onData(uid, read)(body))
    finally turns.leave()
  }

  private def onData[T](uid: String, read: => TrainingRows)(body: (TrainingRows, LinearTrainer) => T): T = {
    if (closed) throw new IllegalStateException("The training data was released, since another fit on it failed.")
    ChangedInput.outlived(uid) {
      val solver = opened.getOrElse {
        val made = new LinearTrainer(read)
        opened = Some(made)
        made
      }
      try body(solver.rows, solver)
      catch {
        case e: Throwable =>
          release()
          throw e
      }
    }
  }

  /** Releases the data, after a fit that is running has ended. Idempotent. */
  override def close(): Unit = synchronized {
    closed = true
    release()
  }

  private def release(): Unit = {
    val last = opened
    opened = None
    last.foreach(_.close())
  }
}
