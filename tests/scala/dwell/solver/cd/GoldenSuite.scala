package dwell.solver.cd

import dwell.LimitedSuite
import dwell.base.{BucketOrder, SplitMix}

/** The generator, and the order in which suites visit coordinates, against the numbers of `tests/golden/primal.py`. */
class GoldenSuite extends LimitedSuite {
  import Golden.{golden, integers, items}

  test("generator and order") {
    val order = golden("order")
    items(order.get("generators")).foreach { c =>
      val random = SplitMix.forEpoch(c.get("seed").asLong, c.get("partition").asInt, c.get("epoch").asLong)
      items(c.get("next")).foreach(next => assert(f"${random.next()}%016x" == next.asText))
    }
    items(order.get("orders")).foreach { c =>
      val buckets = new BucketOrder(c.get("coordinates").asInt, c.get("seed").asLong, c.get("partition").asInt)
      assert(buckets.bucketSize == c.get("bucketSize").asInt && buckets.buckets == c.get("buckets").asInt)
      val first = c.get("cursor").asLong
      integers(c.get("starts")).zipWithIndex.foreach { case (start, i) => assert(buckets.start(first + i) == start) }
    }
  }
}
