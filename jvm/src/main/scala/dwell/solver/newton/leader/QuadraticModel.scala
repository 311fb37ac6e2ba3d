package dwell.solver.newton.leader

import dwell.jni.NativeBridge

/**
 * The minimum of a quadratic model.
 *
 * @param step
 *   from the point of the model to its minimum
 * @param decrease
 *   how far the model falls
 * @param slope
 *   see [[Newton]]
 * @param offset
 *   see [[Newton]]
 */
private[newton] final case class QuadraticStep(step: Array[Double], decrease: Double, slope: Double, offset: Double)

/**
 * The penalty of a linear model by variable, and which variables move where.
 *
 * @param l1
 *   factor of the absolute value of each variable
 * @param l2
 *   factor of half of its square
 * @param fixed
 *   variables that stay where they are
 * @param box
 *   least and largest values of the variables
 */
private[newton] final class QuadraticModel(
    val l1: Array[Double],
    val l2: Array[Double],
    val fixed: Array[Boolean],
    box: Box,
    outputs: Int) {
  private val n = l1.length

  /** The penalty at `x`. */
  def penalty(x: Array[Double]): Double = {
    var sum = 0.0
    var j = 0
    while (j < n) {
      sum += l1(j) * math.abs(x(j)) + 0.5 * l2(j) * (x(j) * x(j))
      j += 1
    }
    sum
  }

  /**
   * Minimises gradient and Hessian of the losses, and the penalty, over the steps from `at`.
   *
   * @param hessian
   *   a vector that holds the triangles of the Hessian from position `triangles` on
   * @param objective
   *   the objective at `at`
   * @param reach
   *   receives the norm of each unit vector in the inverse of Hessian and L2 penalty; null for none
   */
  def minimise(
      hessian: Array[Double],
      triangles: Int,
      gradient: Array[Double],
      at: Array[Double],
      objective: Double,
      reach: Array[Double]): QuadraticStep = {
    val step = new Array[Double](n)
    val bound = new Array[Double](3)
    NativeBridge.newtonModel(
      hessian,
      triangles,
      outputs,
      gradient,
      at,
      l1,
      l2,
      fixed,
      box.lower,
      box.upper,
      objective,
      step,
      reach,
      bound)
    QuadraticStep(step, bound(0), bound(1), bound(2))
  }

  /** The point that a part of a step leads to, within the box. */
  def moved(at: Array[Double], step: Array[Double], length: Double): Array[Double] =
    Array.tabulate(n)(j => box.clip(j, at(j) + length * step(j)))
}
