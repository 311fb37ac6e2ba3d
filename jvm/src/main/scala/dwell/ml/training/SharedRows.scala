package dwell.ml.training

import dwell.data.TrainingRows
import dwell.solver.LinearTrainer

/**
 * The training data of one fit or of several: read by the first that asks, and released by whoever closes it. Fits that
 * share it take turns.
 */
private[training] final class SharedRows extends AutoCloseable {
  private var opened: Option[(TrainingRows, LinearTrainer)] = None
  private var closed = false

  /** Whether the data has been read, and not been released. */
  def isOpen: Boolean = synchronized(opened.isDefined)

  /** Runs `body` on the data, which `read` brings where no other fit has done so before. */
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

  /** Releases the data; waits for a fit that is under way. Idempotent. */
  override def close(): Unit = synchronized {
    closed = true
    val last = opened
    opened = None
    last.foreach(_._2.close())
  }
}
