package dwell.report

import scala.collection.mutable

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}

import dwell.record.{FitEnded, FitStarted, RoundCompleted, RoundRecord}

/**
 * The fits that run and the fits that have ended, for callers that ask from time to time, such as a progress bar in Python. Add it to
 * the listeners of a SparkContext before the fits begin.
 */
final class FitProgress extends SparkListener {
  import FitProgress._

  private val fits = mutable.ArrayBuffer.empty[Fit]

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case started: FitStarted => synchronized { fits += new Fit(started) }
    case RoundCompleted(uid, record) => synchronized { running(uid).foreach(_.last = Some(record)) }
    case FitEnded(uid) => synchronized { running(uid).foreach(_.ended = true) }
    case _ =>
  }

  /**
   * A list of fits as JSON, in the order in which they began: `uid`, `tolerance`, `unit` (what its rounds are), `maxRounds`, `ended`, and of the last round `round`,
   * `relativeGap` (null without a bound) and `seconds`, since the start of the rounds. A fit that has ended is in one list only.
   */
  def toJson: String = synchronized {
    val list = JsonReport.Mapper.createArrayNode()
    fits.foreach { fit =>
      val node = list.addObject().put("uid", fit.started.uid)
      node
        .put("unit", fit.started.unit)
        .put("maxRounds", fit.started.maxRounds)
        .put("ended", fit.ended)
        .put("round", fit.last.fold(0)(_.round))
      JsonReport.number(node, "tolerance", fit.started.tolerance)
      JsonReport.number(node, "seconds", fit.last.fold(0.0)(_.elapsed))
      JsonReport.number(node, "relativeGap", fit.last.fold(Double.NaN)(_.relativeGap))
    }
    fits --= fits.filter(_.ended)
    JsonReport.Mapper.writeValueAsString(list)
  }

  /** Fits of one estimator run one after the other, or side by side with the same uid: then the last one stands for all. */
  private def running(uid: String): Option[Fit] = fits.reverseIterator.find(fit => fit.started.uid == uid && !fit.ended)
}

private object FitProgress {

  private final class Fit(val started: FitStarted) {
    var last = Option.empty[RoundRecord]
    var ended = false
  }
}
