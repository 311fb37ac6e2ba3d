package dwell.data.matrix

/** The columns that have one value throughout, ascending, and that value. */
private[data] final case class ConstantColumns(indices: Array[Int], values: Array[Double]) {

  /** The columns that both have, with the same value. */
  def intersect(that: ConstantColumns): ConstantColumns =
    intersect(that.indices, that.values.apply, 0, that.indices.length)

  /** The columns that also occur at positions `from` until `until` of `otherIndices`, with the same value. */
  def intersect(otherIndices: Array[Int], otherValue: Int => Double, from: Int, until: Int): ConstantColumns = {
    val keptIndices = Array.newBuilder[Int]
    val keptValues = Array.newBuilder[Double]
    var i = 0
    var at = from
    while (i < indices.length && at < until) {
      if (indices(i) < otherIndices(at)) {
        i += 1
      } else if (indices(i) > otherIndices(at)) {
        at += 1
      } else {
        if (values(i) == otherValue(at)) {
          keptIndices += indices(i)
          keptValues += values(i)
        }
        i += 1
        at += 1
      }
    }
    ConstantColumns(keptIndices.result(), keptValues.result())
  }
}

private[data] object ConstantColumns {
  val Empty: ConstantColumns = ConstantColumns(Array.emptyIntArray, Array.emptyDoubleArray)
}
