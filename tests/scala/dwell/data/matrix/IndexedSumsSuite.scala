package dwell.data.matrix

import scala.util.Random

import dwell.SparkSuite

/** Sums and comparisons by ranges of indices. */
class IndexedSumsSuite extends SparkSuite {

  test("ranges hold every index once, and few enough for one array of bytes") {
    for (length <- Seq(0, 1, 4095, 4096, 10000, 1 << 26, Int.MaxValue - 15); blocks <- Seq(1, 2, 1000)) {
      val ranges = new IndexRanges(length, blocks)
      val firsts = (0 until ranges.count).map(ranges.first)
      val ends = (0 until ranges.count).map(k => ranges.first(k) + ranges.size(k))
      assert(firsts.head == 0 && ends.last == length && firsts.tail == ends.init, s"$length, $blocks")
      assert((0 until ranges.count).forall(k => ranges.size(k) >= 0 && ranges.size(k) <= (1 << 24)))
    }
    assert(new IndexRanges(100000, 8).count == 8 && new IndexRanges(100000, 1000).count == 24)
  }

  test("what a block says is cut where ranges begin") {
    val ranges = new IndexRanges(10000, 2)
    val indices = Array(0, 7, 4999, 5000, 5001, 9999)
    val cut = ranges.cut(indices)((from, until) => indices.slice(from, until).toSeq).toSeq
    assert(cut.flatMap(_._2) == indices.toSeq)
    cut.foreach { case (k, part) =>
      assert(part.forall(i => i >= ranges.first(k) && i < ranges.first(k) + ranges.size(k)))
    }
    assert(cut.map(_._1) == Seq(0, 1))
    assert(ranges.cut(Array.emptyIntArray)((_, _) => ()).isEmpty)
  }

  test("sums are those of all partitions, to the bit as added in their order") {
    val n = 20000
    val random = new Random(3)
    val dense = Seq.fill(9)(Array.fill(n)(if (random.nextInt(3) == 0) random.nextGaussian() else 0.0))
    val parts = dense.map(IndexedSums.of)
    assert(parts.forall(p => p.indices.sorted.sameElements(p.indices) && !p.sums.contains(0.0)))
    val expected = Array.tabulate(n)(j => dense.foldLeft(0.0)(_ + _(j)))
    assert(IndexedSums.total(sc.parallelize(parts, parts.size), n).sameElements(expected))
    assert(IndexedSums.total(sc.parallelize(parts.map(_ => IndexedSums.of(Array.emptyDoubleArray)), 9), 0).isEmpty)
  }
}
