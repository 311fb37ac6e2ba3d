package dwell.problem

/** The dual side of the losses: conjugates by the table of [[MarginLoss]]. */
private[dwell] object DualFormulas {

  val losses: Seq[MarginLoss] = Seq(Squared, Logistic, Hinge, SmoothedHinge(0.5), SquaredHinge)

  /** l*(-a; y), infinite outside of the domain. */
  def conjugate(loss: MarginLoss, a: Double, y: Double): Double = {
    val p = y * a
    def entropy(q: Double): Double = if (q == 0.0) 0.0 else q * math.log(q)
    def within(domain: Boolean)(value: => Double): Double = if (domain) value else Double.PositiveInfinity
    val fraction = p >= 0.0 && p <= 1.0
    loss match {
      case Squared => a * a / 2.0 - p
      case Logistic => within(fraction)(entropy(p) + entropy(1.0 - p))
      case Hinge => within(fraction)(-p)
      case SmoothedHinge(gamma) => within(fraction)(gamma * p * p / 2.0 - p)
      case SquaredHinge => within(p >= 0.0)(p * p / 4.0 - p)
    }
  }
}
