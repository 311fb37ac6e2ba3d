package dwell.solver.cd.leader

/**
 * How much local work a round does where the user has not said: H, in epochs over the local coordinates.
 *
 * A round takes t1 + t2 H seconds, and about N(H) = a/H + b rounds are needed, so that the time is least at
 * `H = c sqrt(t1 / t2), c = sqrt(a / b)` (Duenner et al., "Understanding and Optimizing the Performance of Distributed
 * Machine Learning Applications on Apache Spark", 2017). t1 and t2 are measured in the rounds of the fit itself, t2 on the
 * slowest worker; c was measured on the benchmarks. The least is flat: a factor of 2 costs a few per cent, so that H
 * moves only between powers of 2.
 *
 * @param fixed
 *   what the user has set
 * @param most
 *   epochs that a round may have where the user has not said
 */
private[solver] final class LocalWork(fixed: Option[Double], most: Double) {
  import LocalWork._

  private var epochs = fixed.getOrElse(math.min(most, First))
  private var measured = 0
  private var fixedSeconds, epochSeconds = 0.0

  /** Epochs of the next round. */
  def next: Double = epochs

  /**
   * Takes in a finished round.
   *
   * @param wallSeconds
   *   from the request to the next one
   * @param workerSeconds
   *   inside the solver, of the slowest worker
   * @param done
   *   epochs it did
   * @param certificate
   *   whether it made a certificate as well
   */
  def measure(wallSeconds: Double, workerSeconds: Double, done: Double, certificate: Boolean): Unit =
    if (fixed.isEmpty) {
      measured += 1
      val epoch = workerSeconds / (done + (if (certificate) CertificateEpochs else 0.0))
      val outside = wallSeconds - epoch * done
      // The first round pays for loading classes and compiling them, outside of the solver.
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

  /** What a round of the `driver` mode takes beside the workers, on an idle cluster with a small vector. */
  private val UsualFixedSeconds = 0.05
}
