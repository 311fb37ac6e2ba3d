package dwell.data.block

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Numbers of the features that occur, and vectors in them. */
class OccurringFeaturesSuite extends AnyFunSuite {
  test("features have numbers in their order, and vectors come back, with 0 where nothing occurs") {
    val random = new Random(3)
    for (all <- Seq(1 << 14, 16447, 20000); outputs <- Seq(1, 3)) {
      val kept = (0 until all).filter(j => j == all - 1 || random.nextInt(40) == 0)
      val occurring = OccurringFeatures.of(all, kept.toArray).get
      assert(occurring.all == all && occurring.count == kept.size && occurring.features.toSeq == kept)
      assert(kept.map(occurring.position) == kept.indices)
      val vector = Array.fill(all * outputs)(random.nextGaussian())
      val narrow = occurring.narrowed(vector)
      assert(narrow.toSeq == kept.flatMap(j => vector.slice(j * outputs, (j + 1) * outputs)))
      val isKept = kept.toSet
      val zeroed = Array.tabulate(all * outputs)(i => if (isKept(i / outputs)) vector(i) else 0.0)
      assert(occurring.spread(narrow).sameElements(zeroed))
    }
  }

  test("all features keep their numbers where half of them occur, or none, and where vectors are short") {
    val all = 1 << 14
    assert(OccurringFeatures.of(all, Array.range(0, all / 2)).isEmpty)
    assert(OccurringFeatures.of(all, Array.range(0, all / 2 - 1)).map(_.count).contains(all / 2 - 1))
    assert(OccurringFeatures.of(all, Array.emptyIntArray).isEmpty)
    assert(OccurringFeatures.of(all - 1, Array(5)).isEmpty)
  }
}
