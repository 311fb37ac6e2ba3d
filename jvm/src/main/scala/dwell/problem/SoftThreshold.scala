package dwell.problem

/** Soft thresholding: sign(t) max(|t| - threshold, 0), for a threshold of at least 0. */
private[dwell] object SoftThreshold {
  def apply(t: Double, threshold: Double): Double =
    if (t > threshold) t - threshold else if (t < -threshold) t + threshold else 0.0
}
