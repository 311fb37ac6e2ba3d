package dwell.solver

import dwell.data.ColumnPartition

/**
 * The two operations of coordinate descent on a column, one class per width of the stored values. The order of every
 * sum is that of the native kernels, so that both give the same bits.
 */
private[solver] sealed abstract class ColumnKernel(offsets: Array[Int]) {

  /** c_i^T w: four sums over chunks of four nonzeros, then the nonzeros that are left over, one by one. */
  final def dot(i: Int, w: Array[Double]): Double = dot(offsets(i), offsets(i + 1), w)

  /** w += factor * c_i, or with row weights s: w += s * (factor * c_i). */
  final def add(i: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit =
    if (weights == null) add(offsets(i), offsets(i + 1), factor, w)
    else addWeighted(offsets(i), offsets(i + 1), factor, weights, w)

  final def length(i: Int): Int = offsets(i + 1) - offsets(i)

  protected def dot(from: Int, until: Int, w: Array[Double]): Double
  protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit
  protected def addWeighted(from: Int, until: Int, factor: Double, weights: Array[Double], w: Array[Double]): Unit
}

private[solver] object ColumnKernel {

  def apply(p: ColumnPartition): ColumnKernel =
    if (p.values64 != null) new Doubles(p.offsets, p.indices, p.values64)
    else if (p.values32 != null) new Floats(p.offsets, p.indices, p.values32)
    else new Ones(p.offsets, p.indices)

  private final class Ones(offsets: Array[Int], rows: Array[Int]) extends ColumnKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += w(rows(at))
        a1 += w(rows(at + 1))
        a2 += w(rows(at + 2))
        a3 += w(rows(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += w(rows(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(rows(at)) += factor
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
        val j = rows(at)
        w(j) += factor * weights(j)
        at += 1
      }
    }
  }

  private final class Floats(offsets: Array[Int], rows: Array[Int], values: Array[Float])
      extends ColumnKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += values(at).toDouble * w(rows(at))
        a1 += values(at + 1).toDouble * w(rows(at + 1))
        a2 += values(at + 2).toDouble * w(rows(at + 2))
        a3 += values(at + 3).toDouble * w(rows(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += values(at).toDouble * w(rows(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(rows(at)) += factor * values(at).toDouble
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
        val j = rows(at)
        w(j) += (factor * values(at).toDouble) * weights(j)
        at += 1
      }
    }
  }

  private final class Doubles(offsets: Array[Int], rows: Array[Int], values: Array[Double])
      extends ColumnKernel(offsets) {
    override protected def dot(from: Int, until: Int, w: Array[Double]): Double = {
      var a0, a1, a2, a3 = 0.0
      var at = from
      while (at + 4 <= until) {
        a0 += values(at) * w(rows(at))
        a1 += values(at + 1) * w(rows(at + 1))
        a2 += values(at + 2) * w(rows(at + 2))
        a3 += values(at + 3) * w(rows(at + 3))
        at += 4
      }
      var sum = (a0 + a1) + (a2 + a3)
      while (at < until) {
        sum += values(at) * w(rows(at))
        at += 1
      }
      sum
    }

    override protected def add(from: Int, until: Int, factor: Double, w: Array[Double]): Unit = {
      var at = from
      while (at < until) {
        w(rows(at)) += factor * values(at)
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
        val j = rows(at)
        w(j) += (factor * values(at)) * weights(j)
        at += 1
      }
    }
  }
}
