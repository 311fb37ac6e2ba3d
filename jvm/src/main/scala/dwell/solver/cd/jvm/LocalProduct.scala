package dwell.solver.cd.jvm

import dwell.jni.ResultHeader
import dwell.base.Patience
import dwell.base.kernel.Kernel
import dwell.data.LocalData

/** The product of a partition's data with its coordinates. */
private[solver] abstract class LocalProduct(
    data: LocalData,
    protected final val kernel: Kernel,
    separable: Separable,
    patience: Patience) {
  protected final val v: Array[Double] = new Array[Double](data.vectorLength)

  /** Adds the contribution of coordinate i at value a to `v`, and returns its part of [[CdLayout.KAPPA]]. */
  protected def add(i: Int, a: Double): Double

  /** An entry of the product, from the entry of `v`. */
  protected def entry(v: Double, kappa: Double): Double

  /** Writes the product into the vector of `result`, and returns the measurements. */
  final def run(alpha: Array[Double], result: Array[Byte]): Measured = {
    var kappa = 0.0
    var nonzeros = 0L
    var i = 0
    while (i < alpha.length) {
      if (alpha(i) != 0.0) {
        kappa += add(i, alpha(i))
        nonzeros += kernel.length(i)
        patience.spend(kernel.length(i))
      }
      i += 1
    }
    val product = ResultHeader.vector(result)
    var j = 0
    while (j < v.length) {
      product.put(j, data.finite(entry(v(j), kappa), "product", j))
      j += 1
    }
    val value = separable.total(alpha, patience)
    Measured(value, Certificate.None, alpha.length.toLong, nonzeros, kappa, LineTerms.at(value))
  }
}
