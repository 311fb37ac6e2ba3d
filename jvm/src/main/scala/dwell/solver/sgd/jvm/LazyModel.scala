package dwell.solver.sgd.jvm

import scala.collection.mutable

import dwell.solver.sgd.contract.SgdProblem

/**
 * A model that descent moves, in time proportional to the values of a row. Its coefficients are `a x`: the decay by
 * the L2 penalty changes only the factor a, and a step on a row changes only the entries of x at the row's values.
 * The model applies the other effects of a step to a coefficient when it needs the coefficient; each implementation has
 * its own way.
 *
 * @param start
 *   model to start from; read only
 */
private[sgd] abstract class LazyModel(
    protected final val rows: SgdRows,
    protected final val problem: SgdProblem,
    start: Array[Double]) {
  protected final val outputs: Int = rows.outputs

  /** Coefficients by feature and output, divided by `a`; then the intercepts, not divided. */
  protected final val x: Array[Double] = start.clone()

  /** The factor of the coefficients. */
  protected final var a: Double = 1.0

  /** The factors by which the coefficients were multiplied, in order. */
  protected final val multiplied: mutable.Buffer[Double] = mutable.ArrayBuffer.empty

  private val steps = new Array[Double](outputs)

  /** Brings the coefficients of feature j up to date; without an L1 penalty they always are. */
  protected def update(j: Int): Unit = ()

  /** Subtracts `change` from entry `at` of x. */
  protected def take(at: Int, change: Double): Unit = x(at) -= change

  /** Records the effect of a step of size eta on every coefficient, when `a` has its new value. */
  protected def elapse(eta: Double): Unit

  /** The model after the steps. No step may follow. */
  def result(): Array[Double]

  /**
   * The factors, in order, by which the [[result]] contains coefficients that no step has touched; None if steps change
   * such coefficients in other ways too.
   */
  def decay: Option[Seq[Double]] = None

  /** Predictions of row i. */
  final def predict(i: Int, z: Array[Double]): Unit = {
    if (problem.l1 > 0.0) {
      var at = rows.from(i)
      while (at < rows.until(i)) {
        update(rows.feature(i, at))
        at += 1
      }
    }
    rows.predict(i, a, x, z)
  }

  /** Makes a step of size eta on row i along minus the derivatives g. A call of [[predict]] for the row comes first. */
  final def step(i: Int, eta: Double, g: Array[Double]): Unit = {
    val next = a * (1.0 - eta * problem.l2)
    if (outputs > 1 || g(0) != 0.0) {
      var c = 0
      while (c < outputs) {
        steps(c) = (eta * g(c)) / next
        c += 1
      }
      var at = rows.from(i)
      while (at < rows.until(i)) {
        val j = rows.feature(i, at)
        val value = rows.value(at) * rows.scale(j)
        c = 0
        while (c < outputs) {
          take(j * outputs + c, steps(c) * value)
          c += 1
        }
        at += 1
      }
    }
    if (problem.intercept) {
      var c = 0
      while (c < outputs) {
        x(rows.intercepts + c) -= eta * g(c)
        c += 1
      }
    }
    a = next
    elapse(eta)
  }

  /** Brings all coefficients up to date. */
  protected final def updateAll(): Unit = {
    var j = 0
    while (j < rows.features) {
      update(j)
      j += 1
    }
  }

  /** Multiplies x by the factor: x becomes the model, and the factor 1. */
  protected final def multiplyOut(): Unit = {
    var at = 0
    while (at < rows.intercepts) {
      x(at) = a * x(at)
      at += 1
    }
    multiplied += a
    a = 1.0
  }
}

private[sgd] object LazyModel {

  /** The model multiplies out factors below this: x would lose digits, and overflow in the end. */
  val LeastFactor: Double = 1e-5

  /** The same for sums of models, which are differences of numbers that grow with 1 / a. */
  val LeastMeanFactor: Double = 1e-3

  /** The most steps before sums over them start again from 0. */
  val MaxHistory: Int = 1 << 20
}
