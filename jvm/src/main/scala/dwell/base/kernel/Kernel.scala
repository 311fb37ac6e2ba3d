package dwell.base.kernel

/**
 * The two operations of coordinate descent on the vector c_i of a coordinate: a column in the primal orientation, a row
 * in the dual one. Every sum adds in the order of the native kernels, so that both give the same bits.
 */
private[dwell] abstract class Kernel {

  /** c_i^T w. */
  def dot(i: Int, w: Array[Double]): Double

  /** w += factor * c_i. With `weights` s, one entry for each of w, or null: w += s * (factor * c_i). */
  def add(i: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit

  /** The number of values that c_i stores. */
  def length(i: Int): Int
}
