package dwell.data.block

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Numbers of the features that occur, and vectors in them. */
class OccurringFeaturesSuite extends AnyFunSuite {
  private def marked(all: Int, features: Seq[Int]): Array[Long] = {
    val marks = OccurringFeatures.noMarks(all)
    features.foreach(j => marks(j >> 6) |= 1L << (j & 63))
    marks
  }

  test("features have numbers in their order, and vectors come back, with 0 where nothing occurs") {
    val random = new Random(3)
    for (all <- Seq(3, 64, 127, 128, 1000); outputs <- Seq(1, 3)) {
      val features =
        (0 until all).filter(j => j == all - 1 || random.nextInt(4) == 0).take(all / 2 - 1).toSet + (all - 1)
      val kept = features.toSeq.sorted.take(math.max(1, all / 2 - 1))
      // Each source partition reports some of them, and some report the same ones.
      val (some, others) = (kept.filter(_ % 2 == 0), kept.filter(_ % 3 != 0))
      val rest = kept.diff(some).diff(others)
      val found = OccurringFeatures.of(all, Seq(some, others, rest).map(marked(all, _)))
      if (kept.size >= all / 2) assert(found.isEmpty)
      else {
        val occurring = found.get
        assert(occurring.all == all && occurring.count == kept.size && occurring.features.toSeq == kept)
        assert(kept.map(occurring.position) == kept.indices)
        val vector = Array.fill(all * outputs)(random.nextGaussian())
        val narrow = occurring.narrowed(vector)
        assert(narrow.toSeq == kept.flatMap(j => vector.slice(j * outputs, (j + 1) * outputs)))
        val zeroed = Array.tabulate(all * outputs)(i => if (kept.contains(i / outputs)) vector(i) else 0.0)
        assert(occurring.spread(narrow).sameElements(zeroed))
      }
    }
  }

  test("all features keep their numbers where half of them occur, or none") {
    assert(OccurringFeatures.of(100, Seq(marked(100, 0 until 50))).isEmpty)
    assert(OccurringFeatures.of(100, Seq(marked(100, 0 until 49))).map(_.count).contains(49))
    assert(OccurringFeatures.of(100, Seq(marked(100, Nil))).isEmpty)
  }

  test("source partitions report features of long vectors, while the reports are small") {
    assert(!OccurringFeatures.areCounted(1000, partitions = 4))
    assert(OccurringFeatures.areCounted(1 << 18, partitions = 200))
    assert(!OccurringFeatures.areCounted(1 << 24, partitions = 200))
  }
}
