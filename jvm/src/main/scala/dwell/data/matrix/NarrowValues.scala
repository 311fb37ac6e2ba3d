package dwell.data.matrix

import dwell.bulk.{BulkFormat, BulkInput, BulkOutput}

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

  /** A copy of the first `length` values. */
  def first(length: Int): NarrowValues = new NarrowValues(
    if (values32 == null) null else java.util.Arrays.copyOf(values32, length),
    if (values64 == null) null else java.util.Arrays.copyOf(values64, length))

  /**
   * Takes over `count` values of `from`: each `stride`-th from position `start` on. They come to stand side by side from
   * position `to` on. The width must hold them.
   */
  def copyStrided(from: NarrowValues, start: Int, stride: Int, to: Int, count: Int): Unit = {
    var at = start
    var target = to
    val end = to + count
    if (values32 != null && from.values32 != null) {
      while (target < end) {
        values32(target) = from.values32(at)
        target += 1
        at += stride
      }
    } else if (values64 != null && from.values64 != null) {
      while (target < end) {
        values64(target) = from.values64(at)
        target += 1
        at += stride
      }
    } else {
      while (target < end) {
        this(target) = from(at)
        target += 1
        at += stride
      }
    }
  }
}

private[data] object NarrowValues extends BulkFormat[NarrowValues] {

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

  override def write(values: NarrowValues, out: BulkOutput): Unit = {
    out.array(values.values32)
    out.array(values.values64)
  }

  override def read(in: BulkInput): NarrowValues = new NarrowValues(in.floatArray(), in.doubleArray())

  /** Bytes of a value of this width. */
  def bytes(width: Byte): Int = if (width == Double) 8 else if (width == Single) 4 else 0
}
