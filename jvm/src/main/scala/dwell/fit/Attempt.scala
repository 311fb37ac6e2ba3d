package dwell.fit

import dwell.record.RoundRecord

/**
 * An attempt to run the rounds of a fit.
 *
 * @param number
 *   0 for the first attempt
 * @param earlier
 *   rounds of the attempts before it that were reported to the driver, in order
 * @param seconds
 *   time since the first of these rounds began
 */
private[dwell] final case class Attempt(number: Int, earlier: Seq[RoundRecord], seconds: Double)

private[dwell] object Attempt {
  val first: Attempt = Attempt(0, Seq.empty, 0.0)
}
