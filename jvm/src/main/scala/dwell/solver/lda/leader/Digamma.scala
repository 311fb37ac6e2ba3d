package dwell.solver.lda.leader

/**
 * Derivatives of the logarithm of the gamma function, for positive numbers.
 *
 * Source of the series: NIST Digital Library of Mathematical Functions, 5.5.2, 5.11.2 and 5.15.8.
 */
private[lda] object Digamma {

  /** From this argument on the series are exact to the last digits. */
  private val Asymptotic = 10.0

  /** `psi(x) = d/dx ln Gamma(x)`: `psi(x) = psi(x + 1) - 1/x` up to 10, then the series up to the power -14. */
  def psi(x: Double): Double = {
    var y = x
    var below = 0.0
    while (y < Asymptotic) {
      below += 1.0 / y
      y += 1.0
    }
    val i = 1.0 / (y * y)
    val series = i * (1.0 / 12.0 - i * (1.0 / 120.0 - i * (1.0 / 252.0 - i * (1.0 / 240.0 -
      i * (1.0 / 132.0 - i * (691.0 / 32760.0 - i * (1.0 / 12.0)))))))
    math.log(y) - 0.5 / y - series - below
  }

  /** `psi'(x)`: `psi'(x) = psi'(x + 1) + 1/x^2` up to 10, then the series up to the power -15. */
  def slope(x: Double): Double = {
    var y = x
    var below = 0.0
    while (y < Asymptotic) {
      below += 1.0 / (y * y)
      y += 1.0
    }
    val r = 1.0 / y
    val i = r * r
    val series = 1.0 / 6.0 - i * (1.0 / 30.0 - i * (1.0 / 42.0 - i * (1.0 / 30.0 -
      i * (5.0 / 66.0 - i * (691.0 / 2730.0 - i * (7.0 / 6.0))))))
    r + 0.5 * i + r * i * series + below
  }
}
