package dwell.data.matrix

/**
 * The values of nonzeros in the narrowest width that loses nothing: no array if every value is 1, floats if all values
 * fit into floats exactly, doubles otherwise.
 */
private[data] final class NarrowValues(val values32: Array[Float], val values64: Array[Double]) extends Serializable {

  def apply(at: Int): Double =
    if (values64 != null) values64(at) else if (values32 != null) values32(at).toDouble else 1.0

  /** The width in which the values are stored; they may fit into a narrower one. */
  def width: Byte =
    if (values64 != null) NarrowValues.Double else if (values32 != null) NarrowValues.Single else NarrowValues.Ones

  /** The narrowest width that the values fit into. */
  def narrowest: Byte = {
    val length = if (values64 != null) values64.length else if (values32 != null) values32.length else 0
    var widest = NarrowValues.Ones
    var i = 0
    while (i < length && widest < width) {
      val w = NarrowValues.width(this(i))
      if (w > widest) widest = w
      i += 1
    }
    widest
  }

  /** Copies the values `from` until `until` to `target` from position `to` on. Its width must hold them. */
  def copyTo(from: Int, until: Int, target: NarrowValues, to: Int): Unit = {
    var at = from
    if (target.values64 != null) {
      while (at < until) {
        target.values64(to + at - from) = this(at)
        at += 1
      }
    } else if (target.values32 != null) {
      while (at < until) {
        target.values32(to + at - from) = this(at).toFloat
        at += 1
      }
    }
  }
}

private[data] object NarrowValues {

  /** The widths; a wider one is greater. */
  val Ones: Byte = 0
  val Single: Byte = 1
  val Double: Byte = 2

  /** The narrowest width that holds a value exactly. */
  def width(value: Double): Byte =
    if (value == 1.0) Ones else if (value.toFloat.toDouble == value) Single else Double

  /** `length` values of this width, all 0 (or 1 for width `Ones`). */
  def allocate(width: Byte, length: Int): NarrowValues =
    new NarrowValues(
      if (width == Single) new Array[Float](length) else null,
      if (width == Double) new Array[Double](length) else null)

  /** A copy of the first `length` values, in the narrowest width. */
  def of(values: Array[Double], length: Int): NarrowValues = {
    var widest = Ones
    var i = 0
    while (i < length && widest < Double) {
      val w = width(values(i))
      if (w > widest) widest = w
      i += 1
    }
    val narrow = allocate(widest, length)
    if (narrow.values64 != null) {
      System.arraycopy(values, 0, narrow.values64, 0, length)
    } else if (narrow.values32 != null) {
      i = 0
      while (i < length) {
        narrow.values32(i) = values(i).toFloat
        i += 1
      }
    }
    narrow
  }
}
