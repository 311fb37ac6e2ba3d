package dwell.report

import dwell.record.{FitPhases, RoundRecord}

/** Charts of where the seconds go. A phase has the same colour in each of them. */
private[report] object PhaseChart {

  private final case class Shown(part: Part, seconds: FitPhases => Double)

  private val Reading = Shown(Part("reading", "s3"), _.reading)
  private val SetUp = Shown(Part("set-up", "s4"), _.setUp)
  private val Workers = Shown(Part("workers", "s0"), _.workers)
  private val Leader = Shown(Part("leader", "s2"), _.leader)
  private val Transport = Shown(Part("transport", "s1"), _.transport)
  private val Model = Shown(Part("model", "s5"), _.model)
  private val SparkCode = Shown(Part("Spark's own code", "s0"), _.spark)
  private val Rest = Shown(Part("rest", "rest"), _.rest)
  private val OfRound = Seq(Workers, Leader, Transport)
  private val OfFit = Seq(Reading, SetUp) ++ OfRound ++ Seq(Model, SparkCode, Rest)

  /** One fit as a bar. Phases that it did not have are left out. */
  def ofFit(phases: FitPhases): String = {
    val shown = OfFit.filter(_.seconds(phases) > 0.0)
    Chart.bar("seconds", shown.map(_.part), shown.map(_.seconds(phases)))
  }

  /** A bar for each round. */
  def ofRounds(rounds: Seq[RoundRecord]): String =
    Chart.stacked(
      "round",
      "seconds",
      OfRound.map(_.part),
      rounds.map(r => Seq(r.workerSeconds, r.driverSeconds, r.overheadSeconds)))

  /** A bar for each fit. */
  def ofFits(fits: Seq[FitPhases]): String = {
    val shown = OfFit.filter(phase => fits.exists(phase.seconds(_) > 0.0))
    Chart.stacked("fit", "seconds", shown.map(_.part), fits.map(fit => shown.map(_.seconds(fit))))
  }
}
