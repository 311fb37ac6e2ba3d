package dwell.record

/**
 * What a fit finds out about itself. The leader of the rounds, their runner, the trainer and the estimator each write down what they
 * know. A fact that a kind of fit does not have keeps its default. [[dwell.report.FitReport]] says what each fact means.
 *
 * @param setUpSeconds
 *   time spent on bringing the data into the form of the solver; 0 if an earlier fit had done so
 */
final case class FitFacts(
    request: FitRequest = FitRequest.Unknown,
    algorithm: String = "",
    handover: String = "",
    orientation: String = "",
    orientationReason: String = "",
    aggregation: String = "",
    aggregationReason: String = "",
    restarts: Int = 0,
    rounds: Seq[RoundRecord] = Seq.empty,
    objective: Double = Double.NaN,
    dual: Double = Double.NaN,
    tolerance: Double = 0.0,
    converged: Boolean = false,
    oneClass: Double = Double.NaN,
    coefficients: Long = 0L,
    nonzeroCoefficients: Long = 0L,
    explained: Double = Double.NaN,
    drift: Double = 0.0,
    numRows: Long = 0L,
    numFeatures: Int = 0,
    nonzeros: Long = 0L,
    nonzerosPerPartition: Seq[Long] = Seq.empty,
    placement: String = "",
    held: HeldBytes = HeldBytes.Nothing,
    setUpSeconds: Double = 0.0,
    phases: FitPhases = FitPhases(),
    search: Option[SearchFacts] = None) {

  /** F - F* is at most this; NaN without a lower bound. */
  def gap: Double = math.max(0.0, objective - dual)

  /** Most bytes that the workers kept between rounds. */
  def stateBytes: Long = rounds.map(_.stateBytes).foldLeft(0L)(math.max)

  /** Times that a partition had lost its state when a round asked for it. */
  def stateLosses: Int = rounds.map(_.stateLosses).sum
}
