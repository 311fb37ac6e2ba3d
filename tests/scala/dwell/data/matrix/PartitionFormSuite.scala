package dwell.data.matrix

import dwell.LimitedSuite

/** The choice between sparse and dense, by bytes. */
class PartitionFormSuite extends LimitedSuite {
  import NarrowValues.{Double, Ones, Single}

  private def dense(nonzeros: Long, width: Byte): Boolean = PartitionForm.smallest(10, 6, nonzeros, width).isDense

  test("dense from the density on where a value with its index takes more than the zeros beside it") {
    assert(!dense(29, Single) && dense(30, Single), "8 bytes for each of 30 nonzeros, 4 for each of 60 values")
    assert(!dense(39, Double) && dense(40, Double), "12 bytes for each of 40 nonzeros, 8 for each of 60 values")
    assert(!dense(59, Ones), "4 bytes for each nonzero, 4 for each value")
  }

  test("a dense form holds zeros") {
    assert(PartitionForm.smallest(10, 6, 60, Ones) == PartitionForm(isDense = true, Single))
    assert(PartitionForm(isDense = true, Double).allocate(3, 4, 1).values64.length == 12)
    assert(PartitionForm(isDense = false, Double).allocate(3, 4, 1).values64.length == 1)
  }

  test("sparse where the values do not fit into one array, and where there are none") {
    assert(!PartitionForm.smallest(1 << 16, 1 << 15, 1L << 31, Double).isDense)
    assert(!PartitionForm.smallest(0, 6, 0, Double).isDense && !PartitionForm.smallest(10, 0, 0, Double).isDense)
  }
}
