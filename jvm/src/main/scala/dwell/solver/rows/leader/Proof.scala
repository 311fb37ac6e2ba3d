package dwell.solver.rows.leader

/**
 * A lower bound of F over all models, which certificates raise.
 *
 * @param first
 *   a bound that is known, or NaN
 */
private[rows] final class Proof(certificate: ModelCertificate, first: Double) {
  private var best = Double.NegativeInfinity
  raise(first)

  def lowerBound: Double = best

  /** Takes another lower bound into account; NaN is none. */
  def raise(bound: Double): Unit = if (bound > best) best = bound

  /** Raises the bound by a certificate at a model, if there are any: two passes over the data. */
  def renew(model: Array[Double]): Unit = if (certificate.exists) raise(certificate.of(model).dual)

  /** Whether a model of this objective is proven to be as good as `tolerance` asks for. */
  def suffices(objective: Double, tolerance: Double): Boolean = objective - best <= tolerance * objective
}

private[rows] object Proof {

  /** Iterations from one certificate to the next. */
  val Every = 10
}
