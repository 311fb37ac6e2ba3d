package dwell.ml.tuning

import org.apache.spark.{DwellBridge, SparkContext}

import dwell.record.{FitEnded, FitStarted, RoundCompleted, RoundRecord}

/**
 * Tells the listeners of a SparkContext how many fits of a search are done, as rounds of one fit.
 *
 * @param fits
 *   how many there are
 */
private[tuning] final class SearchProgress(sc: SparkContext, uid: String, fits: Int) extends AutoCloseable {
  private val started = System.nanoTime()
  private var done = 0

  DwellBridge.post(sc, FitStarted(uid, 0.0, fits, unit = "fit"))

  /** One more fit is done. */
  def next(): Unit = {
    done += 1
    val elapsed = (System.nanoTime() - started) * 1e-9
    val record = RoundRecord(done, Double.NaN, Double.NaN, 0.0, 0.0, 0.0, 0.0, 0.0, 0L, 0, elapsed, workers = Seq.empty)
    DwellBridge.post(sc, RoundCompleted(uid, record))
  }

  /** The search is over, also when it has failed. */
  override def close(): Unit = DwellBridge.post(sc, FitEnded(uid))
}
