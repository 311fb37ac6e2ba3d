package dwell.base

import java.nio.ByteBuffer

import dwell.LimitedSuite

class LittleEndianSuite extends LimitedSuite {

  test("the lowest byte comes first") {
    assert(LittleEndian.bytes(Array(1.0)).toSeq == Seq[Byte](0, 0, 0, 0, 0, 0, -16, 63))
  }

  test("doubles keep their bits") {
    val values = Array(0.0, -0.0, 0.1, Double.MinPositiveValue, Double.NegativeInfinity, Double.NaN)
    val back = LittleEndian.doubles(LittleEndian.bytes(values))
    assert(
      back.map(java.lang.Double.doubleToRawLongBits).sameElements(values.map(java.lang.Double.doubleToRawLongBits)))
    assert(LittleEndian.doubles(LittleEndian.bytes(Array.emptyDoubleArray)).isEmpty)
  }

  test("doubles are copied into a longer array") {
    val target = Array.fill(4)(9.0)
    LittleEndian.copy(LittleEndian.bytes(Array(1.0, 2.0)), target, 1)
    assert(target.sameElements(Array(9.0, 1.0, 2.0, 9.0)))
  }

  test("a view writes through; a buffer of a buffer has a position of its own") {
    val bytes = new Array[Byte](16)
    LittleEndian.view(bytes).put(1, 2.5)
    val whole = ByteBuffer.wrap(bytes)
    assert(LittleEndian.buffer(whole).position(8).getDouble() == 2.5 && whole.position() == 0)
  }
}
