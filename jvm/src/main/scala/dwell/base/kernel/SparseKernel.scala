package dwell.base.kernel

/**
 * The operations on sparse vectors. There is one class for each width of the stored values. A dot product adds to four
 * partial sums over chunks of four nonzeros, then the remaining nonzeros one by one.
 */
private[dwell] sealed abstract class SparseKernel(offsets: Array[Int]) extends Kernel {

  override final def dot(i: Int, w: Array[Double]): Double = dot(offsets(i), offsets(i + 1), w)

  override final def add(i: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit =
    if (weights == null) add(offsets(i), offsets(i + 1), factor, w)
    else addWeighted(offsets(i), offsets(i + 1), factor, weights, w)

  override final def length(i: Int): Int = offsets(i + 1) - offsets(i)

  protected def dot(from: Int, until: Int, w: Array[Double]): Double
  protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit
  protected def addWeighted(from: Int, until: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit
}

private[dwell] object SparseKernel {

  /**
   * @param offsets
   *   c_i has the nonzeros `offsets(i)` until `offsets(i + 1)`
   * @param indices
   *   entry of w that each nonzero belongs to
   * @param values32
   *   value of each nonzero, or null
   * @param values64
   *   value of each nonzero, or null; if both are null, every value is 1
   */
  def apply(offsets: Array[Int], indices: Array[Int], values32: Array[Float], values64: Array[Double]): SparseKernel =
    if (values64 != null) new Doubles(offsets, indices, values64)
    else if (values32 != null) new Floats(offsets, indices, values32)
    else new Ones(offsets, indices)

  private final class Ones(offsets: Array[Int], indices: Array[Int]) extends SparseKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += w(indices(at))
        a1 += w(indices(at + 1))
        a2 += w(indices(at + 2))
        a3 += w(indices(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += w(indices(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(indices(at)) += factor
        at += 1
      }
    }

    override protected def addWeighted(
        from: Int,
        until: Int,
        factor: Double,
        weights: Array[Double],
        w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        val j = indices(at)
        w(j) += factor * weights(j)
        at += 1
      }
    }
  }

  private final class Floats(offsets: Array[Int], indices: Array[Int], values: Array[Float])
      extends SparseKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += values(at).toDouble * w(indices(at))
        a1 += values(at + 1).toDouble * w(indices(at + 1))
        a2 += values(at + 2).toDouble * w(indices(at + 2))
        a3 += values(at + 3).toDouble * w(indices(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += values(at).toDouble * w(indices(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(indices(at)) += factor * values(at).toDouble
        at += 1
      }
    }

    override protected def addWeighted(
        from: Int,
        until: Int,
        factor: Double,
        weights: Array[Double],
        w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        val j = indices(at)
        w(j) += (factor * values(at).toDouble) * weights(j)
        at += 1
      }
    }
  }

  private final class Doubles(offsets: Array[Int], indices: Array[Int], values: Array[Double])
      extends SparseKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += values(at) * w(indices(at))
        a1 += values(at + 1) * w(indices(at + 1))
        a2 += values(at + 2) * w(indices(at + 2))
        a3 += values(at + 3) * w(indices(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += values(at) * w(indices(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(indices(at)) += factor * values(at)
        at += 1
      }
    }

    override protected def addWeighted(
        from: Int,
        until: Int,
        factor: Double,
        weights: Array[Double],
        w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        val j = indices(at)
        w(j) += (factor * values(at)) * weights(j)
        at += 1
      }
    }
  }
}
