package dwell.data.block

import dwell.LimitedSuite

/** Sizes that are refused before anything is read. */
class DataLimitsSuite extends LimitedSuite {

  private val names = ColumnNames("terms", "size", "importance")

  test("more features than the driver's heap holds numbers for") {
    DataLimits.checkFeatureCount(100, names, heap = 4000L)
    val message = intercept[IllegalArgumentException](DataLimits.checkFeatureCount(101, names, heap = 4000L)).getMessage
    assert(message.contains("Column 'terms': vectors of length 101") && message.contains("4040 bytes"))
    assert(message.contains("spark.driver.memory") && message.contains("FeatureHasher"))
  }

  test("more features than an array holds") {
    val message =
      intercept[IllegalArgumentException](DataLimits.checkFeatureCount(Int.MaxValue, names, Long.MaxValue)).getMessage
    assert(message.contains("in one array") && message.contains("FeatureHasher"))
  }
}
