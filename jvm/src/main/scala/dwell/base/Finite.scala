package dwell.base

/** Whether numbers are finite. */
private[dwell] object Finite {

  def apply(value: Double): Boolean = !value.isNaN && !value.isInfinite

  def all(values: Array[Double]): Boolean = {
    var i = 0
    while (i < values.length && apply(values(i))) i += 1
    i == values.length
  }
}
