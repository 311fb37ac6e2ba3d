package dwell.data.merge

import scala.collection.mutable

import dwell.LimitedSuite

/** Which rows a partition gets, counted without looking at all rows. */
class RowDistributionSuite extends LimitedSuite {

  test("the rows of a partition, their positions and their number follow from the numbers alone") {
    for (numPartitions <- Seq(1, 2, 3, 7, 64); numRows <- Seq(0L, 1L, 5L, 63L, 64L, 65L, 1000L)) {
      val byPartition = (0L until numRows).groupBy(RowDistribution.partitionOf(_, numPartitions))
      for (k <- 0 until numPartitions) {
        val expected = byPartition.getOrElse(k, Nil)
        assert(RowDistribution.size(k, numPartitions, numRows) == expected.size)
        for ((from, until) <- Seq((0L, numRows), (numRows / 3, numRows / 2), (numRows / 2, numRows))) {
          val found = mutable.ArrayBuffer.empty[(Long, Int)]
          RowDistribution.eachRow(k, numPartitions, from, until)((row, position) => found += ((row, position)))
          assert(found == expected.zipWithIndex.filter { case (row, _) => row >= from && row < until })
        }
      }
    }
  }

  test("rows beyond the range of an Int have a partition") {
    val first = 5000000000L
    for (numPartitions <- Seq(2, 7)) {
      val start = first / numPartitions * numPartitions
      val partitions = (start until start + numPartitions).map(RowDistribution.partitionOf(_, numPartitions))
      assert(partitions.sorted == (0 until numPartitions))
    }
  }
}
