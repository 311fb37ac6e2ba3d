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

  /** Sets a value, which the width must hold. */
  def update(at: Int, value: Double): Unit =
    if (values64 != null) values64(at) = value else if (values32 != null) values32(at) = value.toFloat

  /** Copies the values `from` until `until` to `target` from position `to` on. Its width must hold them. */
  def copyTo(from: Int, until: Int, target: NarrowValues, to: Int): Unit =
    if (width == target.width) {
      if (values64 != null) System.arraycopy(values64, from, target.values64, to, until - from)
      else if (values32 != null) System.arraycopy(values32, from, target.values32, to, until - from)
    } else {
      var at = from
      while (at < until) {
        target(to + at - from) = this(at)
        at += 1
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

  /** A copy of the first `length` values in a width that holds them. */
  def of(values: Array[Double], length: Int, width: Byte): NarrowValues = {
    val narrow = allocate(width, length)
    if (width == Double) System.arraycopy(values, 0, narrow.values64, 0, length)
    else if (width == Single) {
      var i = 0
      while (i < length) {
        narrow.values32(i) = values(i).toFloat
        i += 1
      }
    }
    narrow
  }

  /** Bytes of a value of this width. */
  def bytes(width: Byte): Int = if (width == Double) 8 else if (width == Single) 4 else 0
}
