package dwell.record

import java.time.Instant

/**
 * What a fit was asked for.
 *
 * @param estimator
 *   its class, such as `LogisticRegression`; empty where nobody knows
 * @param params
 *   names and values of its columns, of the Params that decide most, and of all Params that were set: `Boolean`, `Int`, `Long`, `Double` or
 *   `String`
 * @param version
 *   Dwell's; empty if the jar does not tell
 * @param date
 *   when the fit ended
 */
final case class FitRequest(estimator: String, params: Seq[(String, Any)], version: String, date: Instant) {

  /** A line of text; empty where nobody knows. */
  private[dwell] def toLine: String =
    if (estimator.isEmpty) ""
    else (estimator +: params.map { case (name, value) => s"$name=$value" }).mkString(" ") + s"; Dwell $version, $date"
}

object FitRequest {

  /** Of a fit without an estimator. */
  val Unknown: FitRequest = FitRequest("", Seq.empty, "", Instant.EPOCH)
}
