package dwell.ml.tuning.metric

/**
 * The mean of -log of the probability of each row's own label.
 *
 * @param eps
 *   probabilities are moved into [eps, 1 - eps]
 */
private[tuning] final class LogLoss(eps: Double) extends Metric {
  import LogLoss._

  override def output: Output = Output.OfLabel

  override def tally(): Tally = new Sum(eps)

  override def value(tallies: Seq[Tally]): Option[Double] = {
    val sums = tallies.collect { case sum: Sum => sum }
    Some(sums.map(_.loss).sum / sums.map(_.weight).sum)
  }
}

private object LogLoss {

  private final class Sum(eps: Double) extends Tally {
    var loss, weight = 0.0

    override def add(probability: Double, label: Double, rowWeight: Double): Unit = {
      loss -= rowWeight * math.log(math.max(math.min(probability, 1.0 - eps), eps))
      weight += rowWeight
    }
  }
}
