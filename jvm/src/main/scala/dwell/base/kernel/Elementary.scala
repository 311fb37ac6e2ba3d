package dwell.base.kernel

import java.lang.Double.{doubleToRawLongBits, longBitsToDouble}

/**
 * The exponential and the logarithms of the margins. Every function is a fixed order of correctly rounded operations:
 * `native/solvers/src/base/elementary.rs` has the same formulas and gives the same bits. Relative errors stay below
 * 5e-16.
 */
private[dwell] object Elementary {

  /** e^x^ for x <= 0; e^-708^ at least. NaN for NaN. */
  def exp(exponent: Double): Double = {
    val x = if (exponent < LeastExponent) LeastExponent else exponent
    val shifted = x * Log2E + Rounding
    val n = shifted - Rounding
    val r = (x - n * Ln2High) - n * Ln2Low
    // |r| <= ln 2 / 2: the first term that is left out is below 5e-18.
    var sum = 1.0 / 6227020800.0
    sum = sum * r + 1.0 / 479001600.0
    sum = sum * r + 1.0 / 39916800.0
    sum = sum * r + 1.0 / 3628800.0
    sum = sum * r + 1.0 / 362880.0
    sum = sum * r + 1.0 / 40320.0
    sum = sum * r + 1.0 / 5040.0
    sum = sum * r + 1.0 / 720.0
    sum = sum * r + 1.0 / 120.0
    sum = sum * r + 1.0 / 24.0
    sum = sum * r + 1.0 / 6.0
    sum = sum * r + 0.5
    val small = r * r * sum + r
    (1.0 + small) * longBitsToDouble((doubleToRawLongBits(shifted) + 1023L) << 52)
  }

  /** ln(1 + x) for x > -1. For x = -1 the result is finite, so that its product with 0 is 0. */
  def log1p(x: Double): Double = {
    val bits = shifted(1.0 + x)
    val k = exponent(bits)
    // Near 1 the rounding of 1 + x would show.
    logarithm(k, if (k == 0.0) x else mantissa(bits) - 1.0)
  }

  /** ln(x) for positive normal x. For 0 and for subnormal x the result is finite, so that its product with 0 is 0. */
  def log(x: Double): Double = {
    val bits = shifted(x)
    logarithm(exponent(bits), mantissa(bits) - 1.0)
  }

  // x = 2^k m with m between the roots of 1/2 and 2; the bits that both follow from.
  private def shifted(x: Double): Long = doubleToRawLongBits(x) + (0x3ff0000000000000L - RootHalf)

  private def mantissa(shifted: Long): Double = longBitsToDouble((shifted & ((1L << 52) - 1)) + RootHalf)

  /** k */
  private def exponent(shifted: Long): Double =
    longBitsToDouble((shifted >>> 52) | 0x4330000000000000L) - (4503599627370496.0 + 1023.0)

  /** k ln 2 + ln(1 + f) */
  private def logarithm(k: Double, f: Double): Double = k * Ln2High + (logOfSum(f) + k * Ln2Low)

  /** ln(1 + f) for 1 + f between the roots of 1/2 and 2: twice the area hyperbolic tangent of f / (2 + f). */
  private def logOfSum(f: Double): Double = {
    val s = f / (2.0 + f)
    val z = s * s
    // z <= 0.0295: the first term that is left out is below 2e-19.
    var sum = 1.0 / 23.0
    sum = sum * z + 1.0 / 21.0
    sum = sum * z + 1.0 / 19.0
    sum = sum * z + 1.0 / 17.0
    sum = sum * z + 1.0 / 15.0
    sum = sum * z + 1.0 / 13.0
    sum = sum * z + 1.0 / 11.0
    sum = sum * z + 1.0 / 9.0
    sum = sum * z + 1.0 / 7.0
    sum = sum * z + 1.0 / 5.0
    sum = sum * z + 1.0 / 3.0
    // 2 s = f - f s, whose first term is exact.
    f - s * (f - 2.0 * z * sum)
  }

  private val Log2E = 1.4426950408889634

  /** ln 2 in two parts. The first has 31 bits, so its product with an exponent is exact. */
  private val Ln2High = longBitsToDouble(0x3fe62e42fec00000L)
  private val Ln2Low = 4.236521365809284e-10

  /** The square root of 1/2. */
  private val RootHalf = 0x3fe6a09e667f3bcdL

  /** Adding it to a number below 2^51^ leaves the nearest whole number in the low bits. */
  private val Rounding = 6755399441055744.0

  /** Below it the exponential would not be a normal number. */
  private val LeastExponent = -708.0
}
