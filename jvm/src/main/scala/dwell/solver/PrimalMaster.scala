package dwell.solver

/**
 * The master step of primal CoCoA for the squared loss: the residual of the current iterate, its objective, and the
 * lower bound that a certificate pass of the workers gives.
 *
 * The residual is r = (y - offset) - A~ alpha, where with an intercept A~ has centred columns and offset is the mean of
 * y, so that sum_j s_j r_j = 0: the intercept is then the exact minimiser at every iterate and appears nowhere.
 *
 * @param target
 *   y - offset, one entry a row
 * @param weights
 *   row weights, or null where every weight is 1
 * @param totalWeight
 *   sum of the weights, S
 */
final class PrimalMaster(target: Array[Double], weights: Array[Double], totalWeight: Double, centred: Boolean) {

  /** Residual of the current iterate; the caller may read it between two steps. */
  val residual: Array[Double] = target.clone()

  /** r <- target - product, for an exact product A~ alpha. */
  def restart(product: Array[Double]): Unit = {
    var j = 0
    while (j < residual.length) {
      residual(j) = target(j) - product(j)
      j += 1
    }
    recentre()
  }

  /** r <- r - update. */
  def step(update: Array[Double]): Unit = {
    var j = 0
    while (j < residual.length) {
      residual(j) -= update(j)
      j += 1
    }
    recentre()
  }

  /** Weighted mean of the residual that the last step removed: rounding only, since centred columns sum to zero. */
  private def recentre(): Unit = if (centred) {
    val mean = weightedSum((r, _) => r) / totalWeight
    var j = 0
    while (j < residual.length) {
      residual(j) -= mean
      j += 1
    }
  }

  /** 1/(2S) sum_j s_j r_j^2. */
  def loss: Double = weightedSum((r, _) => r * r) / (2.0 * totalWeight)

  /**
   * A lower bound of the optimum from the certificate pass of the workers at the present residual: the Fenchel dual value
   * (Smith et al. 2018, equation (B)) at rho * w, w_j = -s_j r_j / S, scaled as in Massias et al. 2018, section 2.
   *
   * rho = 1 needs the conjugates' sum to be finite; |rho| <= 1/ratio makes every conjugate zero, and the best such rho
   * is known in closed form. The better of the two is returned; rho = 0 makes it at least 0.
   *
   * @param conjugate
   *   sum_i g_i*(x_i), x_i = c~_i^T (s r) / S
   * @param ratio
   *   max_i |x_i| / l1_i
   */
  def dual(conjugate: Double, ratio: Double): Double = {
    val squares = weightedSum((r, _) => r * r) / totalWeight
    val correlation = weightedSum((r, y) => r * y) / totalWeight
    def value(rho: Double): Double = rho * correlation - rho * rho * squares / 2.0
    val unscaled = value(1.0) - conjugate
    val limit = if (ratio > 0.0) 1.0 / ratio else Double.PositiveInfinity
    val best = if (squares > 0.0) correlation / squares else 0.0
    val scaled = value(math.max(-limit, math.min(limit, best)))
    math.max(0.0, if (unscaled.isNaN) scaled else math.max(unscaled, scaled))
  }

  private def weightedSum(term: (Double, Double) => Double): Double = {
    var sum = 0.0
    var j = 0
    while (j < residual.length) {
      val t = term(residual(j), target(j))
      sum += (if (weights == null) t else weights(j) * t)
      j += 1
    }
    sum
  }
}
