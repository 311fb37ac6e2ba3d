package dwell.ml.training

import dwell.data.TrainingRows
import dwell.solver.LinearTrainer

/**
 * The training data of one or several fits. The first fit reads it, and `close` releases it. Fits that share it take
 * turns.
 */
private[training] final class SharedRows extends AutoCloseable {
  private var opened: Option[(TrainingRows, LinearTrainer)] = None
  private var closed = false

  /** Whether the data was read and is not yet released. */
  def isOpen: Boolean = synchronized(opened.isDefined)

  /**
   * Runs `body` on the data. Calls `read` first if no other fit has.
   *
   * @throws IllegalStateException
   *   if the data was released
   */
  def use[T](read: => TrainingRows)(body: (TrainingRows, LinearTrainer) => T): T = synchronized {
    if (closed) throw new IllegalStateException("The training data was released, since another fit on it failed.")
    val (data, solver) = opened.getOrElse {
      val data = read
      val pair = (data, new LinearTrainer(data))
      opened = Some(pair)
      pair
    }
    body(data, solver)
  }

  /** Releases the data, after a fit that is running has ended. Idempotent. */
  override def close(): Unit = synchronized {
    closed = true
    val last = opened
    opened = None
    last.foreach(_._2.close())
  }
}
