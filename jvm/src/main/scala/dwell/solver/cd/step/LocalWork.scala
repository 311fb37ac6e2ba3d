package dwell.solver.cd.step

/**
 * Chooses the local work of a round: H, in epochs over the local coordinates.
 *
 * A round takes t1 + t2 H seconds, and about N(H) = a/H + b rounds are needed, so that the time is least at
 * `H = c sqrt(t1 / t2), c = sqrt(a / b)` (Duenner et al., "Understanding and Optimizing the Performance of Distributed
 * Machine Learning Applications on Apache Spark", 2017). The rounds of the fit itself measure t1 and t2, the latter on
 * the slowest worker; c was measured on the benchmarks. The minimum is flat: a factor of 2 costs a few per cent, so H
 * takes powers of 2 only.
 *
 * @param fixed
 *   the epochs that the user has set; None chooses them
 * @param most
 *   the most epochs that may be chosen
 */
private[solver] final class LocalWork(fixed: Option[Double], most: Double) {
  import LocalWork._

  private var epochs = fixed.getOrElse(math.min(most, First))
  private var measured = 0
  private var fixedSeconds, epochSeconds = 0.0

  /** Epochs of the next round. */
  def next: Double = epochs

  /**
   * Records the times of a finished round, and chooses the epochs of the next one.
   *
   * @param wallSeconds
   *   time from its request to the next one
   * @param workerSeconds
   *   time of the slowest worker inside the solver
   * @param done
   *   its epochs
   * @param certificate
   *   whether it included a certificate
   */
  def measure(wallSeconds: Double, workerSeconds: Double, done: Double, certificate: Boolean): Unit =
    if (fixed.isEmpty) {
      measured += 1
      val epoch = workerSeconds / (done + (if (certificate) CertificateEpochs else 0.0))
      val outside = wallSeconds - epoch * done
      // The first round also loads and compiles classes, outside the solver.
      val usual = if (measured == 1) math.min(outside, UsualFixedSeconds) else outside
      val weight = 1.0 / math.min(measured, Memory)
      fixedSeconds += weight * (usual - fixedSeconds)
      epochSeconds += weight * (epoch - epochSeconds)
      epochs = best
    }

  private def best: Double = {
    val optimum = Ratio * math.sqrt(fixedSeconds / math.max(epochSeconds, Instant))
    math.max(Least, math.min(most, math.pow(2.0, math.round(math.log(optimum) / math.log(2.0)).toDouble)))
  }
}

private[solver] object LocalWork {

  private val First = 1.0

  private val Least = 0.25

  /** c: with one worker and with two, for ridge, the logistic loss and the hinge (bench/results/2026-11-21-spark). */
  private val Ratio = 1.3

  /** A certificate reads the data once and writes nothing. */
  private val CertificateEpochs = 0.6

  /** Rounds over which times are averaged. */
  private val Memory = 4.0

  private val Instant = 1e-9

  /** Time of a `driver` mode round outside the workers, on an idle cluster with a small vector. */
  private val UsualFixedSeconds = 0.05
}
