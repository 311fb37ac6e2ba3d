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
 *   the Param `maxIter`; of a search the number of its fits
 * @param unit
 *   what its rounds are: rounds or, in a search, fits
 */
final case class FitStarted(uid: String, tolerance: Double, maxRounds: Int, unit: String = "round")
    extends SparkListenerEvent

/** Posted when the fit is over, also when it has failed. */
final case class FitEnded(uid: String) extends SparkListenerEvent
