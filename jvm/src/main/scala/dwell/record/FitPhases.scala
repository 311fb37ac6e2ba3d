package dwell.record

import java.util.Locale

/**
 * The seconds of a fit by phase, in the order of the phases. Their sum is the time of the whole fit.
 *
 * @param reading
 *   reading the data and checking it; 0 if the fit shares data that an earlier fit has read
 * @param setUp
 *   bringing the data into the form of the solvers; 0 if an earlier fit has done so
 * @param workers
 *   local solvers: in each round the slowest worker's time
 * @param leader
 *   adding the updates, and the leader's steps
 * @param transport
 *   the rest of the rounds: scheduling, serialisation, transport and waiting
 * @param model
 *   building Spark's model and its training summary
 * @param spark
 *   Spark's own code, where it trained
 * @param rest
 *   the rest of the fit: checking Params, starting the rounds, fetching the coefficients, freeing memory
 */
final case class FitPhases(
    reading: Double = 0.0,
    setUp: Double = 0.0,
    workers: Double = 0.0,
    leader: Double = 0.0,
    transport: Double = 0.0,
    model: Double = 0.0,
    spark: Double = 0.0,
    rest: Double = 0.0) {

  /** Seconds of all rounds. */
  def rounds: Double = workers + leader + transport

  /** Seconds of the whole fit. */
  def total: Double = reading + setUp + rounds + model + spark + rest

  /** The phases as a line that starts with the total. Phases that the fit did not have are left out. */
  def toLine: String = {
    val ofRounds =
      s"${seconds(rounds)} (workers ${seconds(workers)}, leader ${seconds(leader)}, transport ${seconds(transport)})"
    val parts = Seq(
      ("reading", reading, seconds(reading)),
      ("set-up", setUp, seconds(setUp)),
      ("rounds", rounds, ofRounds),
      ("model", model, seconds(model)),
      ("Spark's own code", spark, seconds(spark)),
      ("rest", rest, seconds(rest)))
    s"${seconds(total)} s: ${parts.collect { case (name, spent, text) if spent > 0.0 => s"$name $text" }.mkString(", ")}"
  }

  private def seconds(value: Double): String = "%.2f".formatLocal(Locale.ROOT, value)
}

private[dwell] object FitPhases {

  /** The phases of a fit of `total` seconds, in which nothing but the given phases was measured. */
  def of(
      total: Double,
      reading: Double = 0.0,
      setUp: Double = 0.0,
      rounds: Seq[RoundRecord] = Seq.empty,
      model: Double = 0.0,
      spark: Double = 0.0): FitPhases = {
    val measured = FitPhases(
      reading,
      setUp,
      rounds.map(_.workerSeconds).sum,
      rounds.map(_.driverSeconds).sum,
      rounds.map(_.overheadSeconds).sum,
      model,
      spark)
    measured.copy(rest = math.max(0.0, total - measured.total))
  }
}
