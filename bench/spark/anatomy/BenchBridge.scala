package org.apache.spark

/** A member of `SparkContext` that is private to Spark. */
object BenchBridge {

  /** Returns once all listeners have seen every event so far, such as a block that was cached. */
  def awaitListeners(sc: SparkContext): Unit = sc.listenerBus.waitUntilEmpty()
}
