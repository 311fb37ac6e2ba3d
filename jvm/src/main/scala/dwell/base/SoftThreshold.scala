package dwell.base

/** Moves a number towards 0 by a threshold of at least 0, and not beyond: sign(t) max(|t| - threshold, 0). */
private[dwell] object SoftThreshold {
  def apply(t: Double, threshold: Double): Double =
    if (t > threshold) t - threshold else if (t < -threshold) t + threshold else 0.0
}
