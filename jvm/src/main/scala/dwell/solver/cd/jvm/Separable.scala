package dwell.solver.cd.jvm

import dwell.base.Patience

/**
 * A sum of functions h_i of one coordinate each: the penalty in the primal problem, the conjugates of the losses in the
 * dual one. Each sum adds up chunks and then adds the chunks in order, so that native threads can share the chunks and
 * give the same bits.
 */
private[solver] trait Separable {

  /** h_i(a). */
  def value(i: Int, a: Double): Double

  /** Derivative at a of the quadratic part of h_i. */
  def slope(i: Int, a: Double): Double

  /** Second derivative of the quadratic part of h_i. */
  def curvature(i: Int): Double

  /** The growth of the non-quadratic rest of h_i from a to a + e; infinite if a + e is outside the domain. */
  def change(i: Int, a: Double, e: Double): Double

  /** sum_i h_i(a_i). */
  final def total(a: Array[Double], patience: Patience): Double = {
    var total = 0.0
    Separable.inChunks(a.length) { (start, end) =>
      var sum = 0.0
      var i = start
      while (i < end) {
        sum += value(i, a(i))
        patience.spend(0)
        i += 1
      }
      total += sum
    }
    total
  }

  /** The sum at `after`, and its change from `start` along g1 (after - start) + g2 previous. */
  final def along(
      start: Array[Double],
      after: Array[Double],
      previous: Array[Double],
      points: Array[Double],
      patience: Patience): LineTerms = {
    var total, slope1, slope2, curve11, curve12, curve22 = 0.0
    val samples = new Array[Double](points.length / 2)
    Separable.inChunks(start.length) { (from, until) =>
      var sum, s1, s2, c11, c12, c22 = 0.0
      val sampled = new Array[Double](samples.length)
      var i = from
      while (i < until) {
        val d = after(i) - start(i)
        val p = previous(i)
        val there = value(i, after(i))
        sum += there
        // A coordinate that does not move changes nothing, but an infeasible one makes every sample infinite.
        if (d != 0.0 || p != 0.0 || there.isPosInfinity) {
          val s = slope(i, start(i))
          val c = curvature(i)
          s1 += s * d
          s2 += s * p
          c11 += (c * d) * d
          c12 += (c * d) * p
          c22 += (c * p) * p
          var k = 0
          while (k < sampled.length) {
            sampled(k) += change(i, start(i), points(2 * k) * d + points(2 * k + 1) * p)
            k += 1
          }
        }
        patience.spend(sampled.length)
        i += 1
      }
      total += sum
      slope1 += s1
      slope2 += s2
      curve11 += c11
      curve12 += c12
      curve22 += c22
      sampled.indices.foreach(k => samples(k) += sampled(k))
    }
    LineTerms(total, slope1, slope2, curve11, curve12, curve22, samples)
  }
}

private[solver] object Separable {

  /** Coordinates of a chunk. The native solver has the same number. */
  private val ChunkCoordinates = 4096

  /** Calls `sum` with the start and the end of every chunk, in order. */
  def inChunks(coordinates: Int)(sum: (Int, Int) => Unit): Unit = {
    var start = 0
    while (start < coordinates) {
      val end = math.min(coordinates, start + ChunkCoordinates)
      sum(start, end)
      start = end
    }
  }
}
