package dwell.record

import org.apache.spark.scheduler.SparkListenerEvent

/**
 * Posted to the listener bus of the SparkContext when a fit begins.
 *
 * @param uid
 *   uid of the estimator
 * @param tolerance
 *   the relative gap at which the fit ends; 0 if only `maxRounds` ends it
 * @param maxRounds
 *   the Param `maxIter`
 */
final case class FitStarted(uid: String, tolerance: Double, maxRounds: Int) extends SparkListenerEvent

/** Posted when the fit is over, also when it has failed. */
final case class FitEnded(uid: String) extends SparkListenerEvent
