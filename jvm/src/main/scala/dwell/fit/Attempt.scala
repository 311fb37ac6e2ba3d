package dwell.fit

import dwell.report.RoundRecord

/**
 * An attempt to make the rounds of a fit.
 *
 * @param number
 *   0 is the first
 * @param earlier
 *   rounds that those before it have made, in their order, as far as the driver was told
 * @param seconds
 *   since the first of these began
 */
private[dwell] final case class Attempt(number: Int, earlier: Seq[RoundRecord], seconds: Double)

private[dwell] object Attempt {
  val first: Attempt = Attempt(0, Seq.empty, 0.0)
}
