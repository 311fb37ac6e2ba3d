package dwell

import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent, SparkListenerJobStart}

/** What Spark tells while a piece of code runs. */
object Listened {

  /** The result of `body`, once the listener has heard of all that happened in it. */
  def by[T](sc: SparkContext, listener: SparkListener)(body: => T): T = {
    val end = new SparkListenerEvent {}
    val heard = new CountDownLatch(1)
    // Events come to listeners in their order.
    val last = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = if (event eq end) heard.countDown()
    }
    Seq(listener, last).foreach(sc.addSparkListener)
    try {
      val result = body
      DwellBridge.post(sc, end)
      if (!heard.await(Waiting.LimitSeconds, TimeUnit.SECONDS)) throw new IllegalStateException("no event arrives")
      result
    } finally Seq(listener, last).foreach(sc.removeSparkListener)
  }

  /** The number of jobs that `body` starts. */
  def jobs(sc: SparkContext)(body: => Any): Int = {
    val started = new AtomicInteger
    val counter = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit = {
        started.incrementAndGet()
        ()
      }
    }
    by(sc, counter)(body)
    started.get
  }
}
