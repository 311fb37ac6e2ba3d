package dwell.base

/** Tests that numbers are finite: neither NaN nor infinite. */
private[dwell] object Finite {

  def apply(value: Double): Boolean = !value.isNaN && !value.isInfinite

  /** Whether every entry is finite; an empty array passes. */
  def all(values: Array[Double]): Boolean = {
    var i = 0
    while (i < values.length && apply(values(i))) i += 1
    i == values.length
  }
}
