package dwell.base

import dwell.LimitedSuite

/** The order in which a partition visits its coordinates. */
class BucketOrderSuite extends LimitedSuite {

  test("every epoch visits every coordinate once, in a new order") {
    for (coordinates <- Seq(1, 2, 255, 256, 1000, 16384, 20001)) {
      val order = new BucketOrder(coordinates, seed = 7, partition = 3)
      val epochs = (0 until 3).map { epoch =>
        (0 until order.buckets).map(b => order.start(epoch.toLong * order.buckets + b))
      }
      epochs.foreach { starts =>
        assert(starts.flatMap(s => s until order.end(s)).sorted == (0 until coordinates))
      }
      if (order.buckets > 10) assert(epochs.distinct.size == 3)
    }
  }

  test("buckets grow with the partition to 64 coordinates") {
    def bucket(coordinates: Int): Int = new BucketOrder(coordinates, 0, 0).bucketSize
    assert(Seq(0, 1, 511, 512, 2560, 16384, 1000000).map(bucket) == Seq(1, 1, 1, 2, 10, 64, 64))
    assert(new BucketOrder(0, 0, 0).buckets == 0)
  }

  test("the order at a cursor does not depend on what was asked before") {
    val ahead = new BucketOrder(5000, 1, 1)
    val at = ahead.buckets * 2L + 17
    val expected = ahead.start(at)
    val walking = new BucketOrder(5000, 1, 1)
    (0L until at).foreach(walking.start)
    assert(walking.start(at) == expected)
  }

  test("partitions and seeds have orders of their own") {
    val orders = for (seed <- Seq(0L, 1L, -1L); partition <- 0 until 3) yield {
      val order = new BucketOrder(256, seed, partition)
      (0L until 256L).map(order.start)
    }
    assert(orders.distinct.size == orders.size)
  }
}
