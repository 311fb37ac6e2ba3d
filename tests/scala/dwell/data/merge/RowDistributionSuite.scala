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

  test("any K rows from a multiple of K on go to K partitions, up to the last row that can be numbered") {
    for (numPartitions <- Seq(1, 2, 7, 64, 1000);
      first <- Seq(0L, 1000000L, Int.MaxValue.toLong, 5000000000L, Long.MaxValue - 3000L)) {
      val start = first / numPartitions * numPartitions
      val partitions = (start until start + numPartitions).map(RowDistribution.partitionOf(_, numPartitions))
      assert(partitions.sorted == (0 until numPartitions))
    }
    assert(RowDistribution.partitionOf(Long.MaxValue, Int.MaxValue) >= 0)
  }

  test("a pattern that repeats in the rows does not repeat in a partition") {
    for (numPartitions <- Seq(2, 4, 8); period <- Seq(2, 4, 8, 10)) {
      val ofPattern = (0 until 8000 by period).map(row => RowDistribution.partitionOf(row.toLong, numPartitions))
      val counts = (0 until numPartitions).map(k => ofPattern.count(_ == k))
      val expected = ofPattern.size.toDouble / numPartitions
      // Six deviations of a binomial count.
      assert(
        counts.forall(c => math.abs(c - expected) <= 6.0 * math.sqrt(expected)),
        s"$numPartitions, $period: $counts")
    }
  }
}
