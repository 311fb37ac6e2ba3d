package dwell.base

import dwell.LimitedSuite

/** The bounds of slices. */
class SliceBoundsSuite extends LimitedSuite {

  test("slices are in order, as even as can be, and hold every entry once") {
    for (length <- Seq(0, 1, 5, 1000003, Int.MaxValue); count <- Seq(1, 2, 3, 7, 64, 1000)) {
      val slices = SliceBounds(length, count)
      val starts = (0 to count).map(slices.start)
      assert(starts.head == 0 && starts.last == length && starts == starts.sorted)
      val sizes = (0 until count).map(slices.size)
      assert(sizes.max - sizes.min <= 1 && sizes.map(_.toLong).sum == length)
    }
  }
}
