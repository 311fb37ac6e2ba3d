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

  test("more features than an executor's heap holds numbers for") {
    def check(features: Int): Unit = DataLimits.checkFeatureCount(features, names, heap = 1L << 30, executors = 1600L)
    check(100)
    val message = intercept[IllegalArgumentException](check(101)).getMessage
    assert(message.contains("an executor needs at least 1616 bytes") && message.contains("spark.executor.memory"))
  }

  test("more features than an array holds") {
    val message =
      intercept[IllegalArgumentException](DataLimits.checkFeatureCount(Int.MaxValue, names, Long.MaxValue)).getMessage
    assert(message.contains("in one array") && message.contains("FeatureHasher"))
  }
}
