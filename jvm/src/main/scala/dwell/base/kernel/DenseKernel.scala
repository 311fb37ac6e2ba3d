package dwell.base.kernel

/**
 * The operations on dense vectors of one length. There is one class for each width of the values. A dot product adds
 * the product of entry j to partial sum j mod 16. Then it adds the upper half of the partial sums to the lower half,
 * until one is left.
 */
private[dwell] sealed abstract class DenseKernel(length: Int) extends Kernel {
  import DenseKernel.Lanes

  override final def dot(i: Int, w: Array[Double]): Double = {
    val sums = new Array[Double](Lanes)
    accumulate(i * length, w, sums)
    var half = Lanes / 2
    while (half > 0) {
      var l = 0
      while (l < half) {
        sums(l) += sums(l + half)
        l += 1
      }
      half /= 2
    }
    sums(0)
  }

  override final def add(i: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit =
    if (weights == null) add(i * length, factor, w) else addWeighted(i * length, factor, weights, w)

  override final def length(i: Int): Int = length

  /** Adds the products of the vector whose values begin at `first` to the partial sums. */
  protected def accumulate(first: Int, w: Array[Double], sums: Array[Double]): Unit
  protected def add(first: Int, factor: Double, w: Array[Double]): Unit
  protected def addWeighted(first: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit
}

private[dwell] object DenseKernel {

  /** Partial sums of a dot product. The native solver has as many. */
  private val Lanes = 16

  /**
   * @param length
   *   number of entries of each vector
   * @param values32
   *   the values, vector after vector, or null
   * @param values64
   *   the values, vector after vector, if `values32` is null
   */
  def apply(length: Int, values32: Array[Float], values64: Array[Double]): DenseKernel =
    if (values64 != null) new Doubles(length, values64) else new Floats(length, values32)

  private final class Floats(length: Int, values: Array[Float]) extends DenseKernel(length) {
    override protected def accumulate(first: Int, w: Array[Double], sums: Array[Double]): Unit = {
      val whole = length - length % Lanes
      var j = 0
      while (j < whole) {
        var l = 0
        while (l < Lanes) {
          sums(l) += values(first + j + l).toDouble * w(j + l)
          l += 1
        }
        j += Lanes
      }
      while (j < length) {
        sums(j - whole) += values(first + j).toDouble * w(j)
        j += 1
      }
    }

    override protected def add(first: Int, factor: Double, w: Array[Double]): Unit = {
      var j = 0
      while (j < length) {
        w(j) += factor * values(first + j).toDouble
        j += 1
      }
    }

    override protected def addWeighted(first: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit = {
      var j = 0
      while (j < length) {
        w(j) += (factor * values(first + j).toDouble) * weights(j)
        j += 1
      }
    }
  }

  private final class Doubles(length: Int, values: Array[Double]) extends DenseKernel(length) {
    override protected def accumulate(first: Int, w: Array[Double], sums: Array[Double]): Unit = {
      val whole = length - length % Lanes
      var j = 0
      while (j < whole) {
        var l = 0
        while (l < Lanes) {
          sums(l) += values(first + j + l) * w(j + l)
          l += 1
        }
        j += Lanes
      }
      while (j < length) {
        sums(j - whole) += values(first + j) * w(j)
        j += 1
      }
    }

    override protected def add(first: Int, factor: Double, w: Array[Double]): Unit = {
      var j = 0
      while (j < length) {
        w(j) += factor * values(first + j)
        j += 1
      }
    }

    override protected def addWeighted(first: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit = {
      var j = 0
      while (j < length) {
        w(j) += (factor * values(first + j)) * weights(j)
        j += 1
      }
    }
  }
}
