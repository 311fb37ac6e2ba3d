package dwell.ml.training

import org.apache.spark.{DwellBridge, SparkContext}

import dwell.record.{FitEnded, FitStarted}
import dwell.session.SessionProgress

/** Tells the listeners of a SparkContext, and the session, when a fit begins and ends. */
private[ml] object FitEvents {

  def during[T](sc: SparkContext, uid: String, tolerance: Double, maxRounds: Int)(fit: => T): T = {
    SessionProgress.begins(uid)
    DwellBridge.post(sc, FitStarted(uid, tolerance, maxRounds))
    try fit
    finally DwellBridge.post(sc, FitEnded(uid))
  }
}
