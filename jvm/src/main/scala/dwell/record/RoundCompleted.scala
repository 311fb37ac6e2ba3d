package dwell.record

import org.apache.spark.scheduler.SparkListenerEvent

/**
 * Posted to the listener bus of the SparkContext after each round of a fit.
 *
 * @param uid
 *   uid of the estimator
 */
final case class RoundCompleted(uid: String, record: RoundRecord) extends SparkListenerEvent
