package dwell.base

/** Checks of a solver's arguments. Each throws an `IllegalArgumentException` that names the argument and its value. */
private[dwell] object Arguments {

  /**
   * The array must have the expected length; null passes.
   *
   * @param of
   *   what the expected entries are, for the message
   */
  def sameLength(name: String, values: Array[Double], expected: Int, of: String): Unit =
    require(
      values == null || values.length == expected,
      s"$name has length ${if (values == null) 0 else values.length}, but there are $expected $of")

  /** The value must be finite and at least 0. */
  def atLeastZero(name: String, value: Double): Unit =
    require(value >= 0.0 && !value.isInfinite, s"$name = $value: must be finite and at least 0")

  /** The value must be finite and positive. */
  def positive(name: String, value: Double): Unit =
    require(value > 0.0 && !value.isInfinite, s"$name = $value: must be finite and positive")

  /** Every value must be finite. */
  def finite(name: String, values: Array[Double]): Unit =
    values.find(value => value.isNaN || value.isInfinite).foreach { value =>
      throw new IllegalArgumentException(s"$name has $value in it: must be finite")
    }
}
