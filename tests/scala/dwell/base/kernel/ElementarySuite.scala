package dwell.base.kernel

import scala.util.Random

import dwell.LimitedSuite

/** The exponential and the logarithms of the margins, against those of the JDK. */
class ElementarySuite extends LimitedSuite {

  private def close(actual: Double, expected: Double): Unit =
    assert(math.abs(actual - expected) <= 5e-16 * math.abs(expected))

  test("as StrictMath") {
    val random = new Random(5)
    (0 until 200000).foreach { _ =>
      val x = 708.0 * random.nextDouble()
      close(Elementary.exp(-x), StrictMath.exp(-x))
      val e = math.pow(random.nextDouble(), 1.0 + random.nextInt(60))
      close(Elementary.log1p(e), StrictMath.log1p(e))
      close(Elementary.log1p(-e), StrictMath.log1p(-e))
      if (e >= java.lang.Double.MIN_NORMAL) logClose(e)
    }
  }

  private def logClose(e: Double): Unit = {
    val error = math.abs(Elementary.log(e) - StrictMath.log(e))
    assert(error <= 5e-16 * math.max(0.01, math.abs(StrictMath.log(e))))
  }

  test("at the ends of their ranges") {
    assert(Elementary.exp(0.0) == 1.0)
    assert(Elementary.exp(-1e300) == Elementary.exp(-708.0) && Elementary.exp(-708.0) >= java.lang.Double.MIN_NORMAL)
    assert(Elementary.exp(Double.NaN).isNaN)
    assert(Elementary.log(1.0) == 0.0 && Elementary.log1p(0.0) == 0.0)
    assert(0.0 * Elementary.log(0.0) == 0.0 && 0.0 * Elementary.log1p(-1.0) == 0.0)
  }
}
