package dwell.ml.training

import scala.collection.mutable

/** Turns of threads, in the order in which they joined. */
private[training] final class Turns {
  private val joined = mutable.ArrayBuffer.empty[Thread]

  def join(): Unit = synchronized(joined += Thread.currentThread)

  /** Waits until all have left that joined before this thread. One that has not joined does not wait. */
  def await(): Unit = synchronized(while (joined.indexOf(Thread.currentThread) > 0) wait())

  def leave(): Unit = synchronized {
    joined -= Thread.currentThread
    notifyAll()
  }
}
