package dwell.solver.sgd.jvm

import dwell.data.RowData
import dwell.solver.sgd.contract.ModelNorms

/**
 * The rows of a partition, for models of several outputs. The order of every sum is that of the native solver, so both
 * give the same bits.
 */
private[sgd] final class SgdRows(data: RowData, val outputs: Int) {
  private val p = data.partition
  private val kernel = data.kernel

  val features: Int = p.features

  /** Number of rows. */
  def count: Int = p.numRows

  /** Index of the first intercept in a model. */
  val intercepts: Int = outputs * features

  def label(i: Int): Double = p.labels(i)
  def weight(i: Int): Double = if (p.weights == null) 1.0 else p.weights(i)

  /** Values that row i stores. */
  def length(i: Int): Int = kernel.length(i)

  // The values of row i are at positions `from(i)` to `until(i)`, the latter exclusive.
  def from(i: Int): Int = p.offsets(i)
  def until(i: Int): Int = p.offsets(i + 1)
  def value(at: Int): Double = p.value(at)

  /** The feature of the value at position `at`, which is in row i. */
  def feature(i: Int, at: Int): Int = if (p.isDense) at - from(i) else p.indices(at)

  /** Scale of feature j. */
  def scale(j: Int): Double = if (data.scale == null) 1.0 else data.scale(j)

  /** Square roots of the scale; null if every one is 1. */
  private lazy val roots = if (data.scale == null) null else data.scale.map(math.sqrt)

  /** Square root of the scale of feature j. */
  def root(j: Int): Double = if (roots == null) 1.0 else roots(j)

  /**
   * Predictions of row i by a model whose coefficients are `a` times those of `w`, and whose intercepts are those of
   * `w`.
   */
  def predict(i: Int, a: Double, w: Array[Double], z: Array[Double]): Unit =
    if (outputs == 1) z(0) = a * kernel.dot(i, w) + w(intercepts)
    else {
      java.util.Arrays.fill(z, 0.0)
      var at = from(i)
      while (at < until(i)) {
        val (x, first) = (value(at), feature(i, at) * outputs)
        var c = 0
        while (c < outputs) {
          z(c) += x * w(first + c)
          c += 1
        }
        at += 1
      }
      var c = 0
      while (c < outputs) {
        z(c) = a * z(c) + w(intercepts + c)
        c += 1
      }
    }

  /** Adds row i to `w`, times one multiple for each output, and the multiples themselves to the intercepts. */
  def add(i: Int, multiples: Array[Double], w: Array[Double]): Unit = {
    if (outputs == 1) kernel.add(i, multiples(0), null, w)
    else {
      var at = from(i)
      while (at < until(i)) {
        val (x, first) = (value(at), feature(i, at) * outputs)
        var c = 0
        while (c < outputs) {
          w(first + c) += multiples(c) * x
          c += 1
        }
        at += 1
      }
    }
    var c = 0
    while (c < outputs) {
      w(intercepts + c) += multiples(c)
      c += 1
    }
  }

  /** Norms of the coefficients of a model. */
  def norms(w: Array[Double]): ModelNorms = {
    var l1, square = 0.0
    var at = 0
    var j = 0
    while (j < features) {
      val end = at + outputs
      // The coefficients of a feature of scale 0 are 0.
      if (scale(j) != 0.0) {
        while (at < end) {
          l1 += math.abs(w(at)) / root(j)
          square += (w(at) * w(at)) / scale(j)
          at += 1
        }
      }
      at = end
      j += 1
    }
    ModelNorms(l1, square)
  }
}
