package dwell.solver.sgd.jvm

import dwell.base.kernel.SoftThreshold
import dwell.solver.sgd.contract.SgdProblem

/**
 * The mean of the models after each step of a descent. Between two changes of its x, a coefficient is x times the
 * factor a of each step, so sums over the steps replace sums over the models.
 */
private[sgd] sealed abstract class MeanModel(rows: SgdRows, problem: SgdProblem, start: Array[Double])
    extends LazyModel(rows, problem, start) {
  private var models = 0L
  private val interceptSums = new Array[Double](outputs)

  /** Sum of the factors of the steps since the last renormalisation, A. */
  protected final var factors: Double = 0.0

  /** Puts the sums of the coefficients of all models into x. */
  protected def sumUp(): Unit

  /** The rest of [[elapse]], after the sums of both kinds have been updated. */
  protected def proceed(eta: Double): Unit

  override protected final def elapse(eta: Double): Unit = {
    models += 1
    factors += a
    var c = 0
    while (c < outputs) {
      interceptSums(c) += x(rows.intercepts + c)
      c += 1
    }
    proceed(eta)
  }

  override final def result(): Array[Double] = {
    // Without a step the result is the start.
    if (models > 0L) {
      sumUp()
      interceptSums.copyToArray(x, rows.intercepts)
      var at = 0
      while (at < x.length) {
        x(at) /= models.toDouble
        at += 1
      }
    }
    x
  }
}

/**
 * The mean without an L1 penalty. The sum of a coefficient over the models is x A minus, for each change of x, the
 * change times A before its step.
 */
private[sgd] final class DecayedMean(rows: SgdRows, problem: SgdProblem, start: Array[Double])
    extends MeanModel(rows, problem, start) {

  /** x A minus the sum of the coefficient over the models. */
  private val excess = new Array[Double](rows.intercepts)

  override protected def take(at: Int, change: Double): Unit = {
    x(at) -= change
    excess(at) -= change * factors
  }

  override protected def proceed(eta: Double): Unit =
    if (a < LazyModel.LeastMeanFactor) {
      var at = 0
      while (at < excess.length) {
        excess(at) -= x(at) * factors
        at += 1
      }
      multiplyOut()
      factors = 0.0
    }

  override protected def sumUp(): Unit = {
    var at = 0
    while (at < excess.length) {
      x(at) = x(at) * factors - excess(at)
      at += 1
    }
  }
}

/**
 * The mean with an L1 penalty. A coefficient that no step touches from step p on has the size
 * a_k (|x| - root (B_k - B_p)) after step k, until it is 0. The sum of these sizes is a difference of sums over the
 * steps, of a and of a B. The model keeps the history of these sums, and finds in it the step at which the coefficient
 * becomes 0.
 */
private[sgd] final class ThresholdedMean(rows: SgdRows, problem: SgdProblem, start: Array[Double])
    extends MeanModel(rows, problem, start) {

  /** B, A and the sum of a B after each step since the last renormalisation; 0 before the first of them. */
  private val history = new History

  /** Step of the last update of each feature. */
  private val updated = new Array[Int](rows.features)
  private val sums = new Array[Double](rows.intercepts)

  override protected def update(j: Int): Unit = {
    val (since, now) = (updated(j), history.steps)
    if (since != now) {
      val root = rows.root(j)
      val amount = root * (history.threshold(now) - history.threshold(since))
      var at = j * outputs
      while (at < (j + 1) * outputs) {
        if (x(at) != 0.0) {
          val size = math.abs(x(at))
          val area = areaUnder(size, root, since, if (size - amount > 0.0) now else lastAbove(size, root, since, now))
          if (x(at) > 0.0) sums(at) += area else sums(at) -= area
          x(at) = SoftThreshold(x(at), amount)
        }
        at += 1
      }
      updated(j) = now
    }
  }

  /** The last step from `since` until `now` after which a coefficient of this size is not yet 0. */
  private def lastAbove(size: Double, root: Double, since: Int, now: Int): Int = {
    val base = history.threshold(since)
    var (last, beyond) = (since, now)
    while (beyond - last > 1) {
      val middle = last + (beyond - last) / 2
      if (root * (history.threshold(middle) - base) < size) last = middle else beyond = middle
    }
    last
  }

  /** Sum of the sizes of a coefficient after the steps that follow `since`, up to `end`. */
  private def areaUnder(size: Double, root: Double, since: Int, end: Int): Double = {
    val passed = history.factors(end) - history.factors(since)
    size * passed -
      root * ((history.products(end) - history.products(since)) - history.threshold(since) * passed)
  }

  override protected def proceed(eta: Double): Unit = {
    history.add((eta * problem.l1) / a, a, factors)
    if (a < LazyModel.LeastMeanFactor || history.steps == LazyModel.MaxHistory) {
      updateAll()
      multiplyOut()
      java.util.Arrays.fill(updated, 0)
      history.clear()
      factors = 0.0
    }
  }

  override protected def sumUp(): Unit = {
    updateAll()
    System.arraycopy(sums, 0, x, 0, sums.length)
  }
}

/** Running sums over the steps, after each step: B, A and the sum of a B. Step 0 is before the first one. */
private final class History {
  private var last = 0
  private var thresholds, factorSums, productSums = new Array[Double](1024)

  /** Number of steps. */
  def steps: Int = last

  /** B after a step. */
  def threshold(step: Int): Double = thresholds(step)

  /** A after a step. */
  def factors(step: Int): Double = factorSums(step)

  /** The sum of a B after a step. */
  def products(step: Int): Double = productSums(step)

  /** Adds a step: it adds `amount` to B and has factor `a`; `factors` is A after it. */
  def add(amount: Double, a: Double, factors: Double): Unit = {
    if (last + 1 == thresholds.length) {
      thresholds = java.util.Arrays.copyOf(thresholds, 2 * thresholds.length)
      factorSums = java.util.Arrays.copyOf(factorSums, 2 * factorSums.length)
      productSums = java.util.Arrays.copyOf(productSums, 2 * productSums.length)
    }
    last += 1
    thresholds(last) = thresholds(last - 1) + amount
    factorSums(last) = factors
    productSums(last) = productSums(last - 1) + a * thresholds(last)
  }

  /** Removes all steps. */
  def clear(): Unit = last = 0
}
