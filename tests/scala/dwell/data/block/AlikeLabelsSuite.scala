package dwell.data.block

import scala.util.Random

import dwell.LimitedSuite

/** Labels of groups, and those that models cannot be averaged with. */
class AlikeLabelsSuite extends LimitedSuite {

  private def objection(groups: Seq[Array[Double]]*): Option[String] = {
    val summaries = groups.map(_.map(LabelSummary.of(_, null)))
    AlikeLabels.objection(summaries, new LabelMoments(summaries.flatten, ColumnNames()))
  }

  private val random = new Random(3)

  test("labels in random order are alike from some thousand rows on") {
    def normal = Array.fill(2000)(7.0 + 0.1 * random.nextGaussian())
    def classes = Array.fill(2000)((random.nextDouble() * 10.0).toInt.toDouble)
    def rare = Array.fill(2000)(if (random.nextInt(100) == 0) 1.0 else 0.0)
    assert(objection(Seq(normal, normal), Seq(normal, normal)).isEmpty)
    assert(objection(Seq(classes), Seq(classes), Seq(classes)).isEmpty)
    assert(objection(Seq(rare, rare, rare), Seq(rare, rare, rare)).isEmpty)
  }

  test("sorted labels are not, unless each group has blocks from everywhere") {
    val sorted = Array.fill(4000)(random.nextInt(2).toDouble).sorted
    val halves = sorted.grouped(2000).toSeq
    assert(objection(Seq(halves(0)), Seq(halves(1))).exists(_.contains("1.0")), "about one deviation")
    val blocks = sorted.grouped(100).toSeq
    val (even, odd) = blocks.zipWithIndex.partition(_._2 % 2 == 0)
    assert(objection(even.map(_._1), odd.map(_._1)).isEmpty)
  }

  test("a tenth of the standard deviation is the bound, for means and for deviations") {
    def shifted(by: Double) = Array.tabulate(1000)(i => by + (if (i % 2 == 0) 1.0 else -1.0))
    assert(objection(Seq(shifted(0.09)), Seq(shifted(-0.09))).isEmpty)
    assert(objection(Seq(shifted(0.11)), Seq(shifted(-0.11))).exists(_.contains("0.11")))
    def scaled(by: Double) = shifted(0.0).map(_ * by)
    assert(objection(Seq(scaled(1.09)), Seq(scaled(0.91))).isEmpty)
    assert(objection(Seq(scaled(1.0)), Seq(scaled(0.7))).nonEmpty)
    // Classes 0 and 2 have the mean of class 1.
    assert(objection(Seq(Array.tabulate(100)(i => i % 2 * 2.0)), Seq(Array.fill(100)(1.0))).nonEmpty)
  }

  test("rows are mixed unless neighbours are alike") {
    def unmixed(labels: Array[Double]) =
      AlikeLabels.unmixed(new LabelMoments(labels.grouped(300).map(LabelSummary.of(_, null)).toSeq, ColumnNames()))
    val labels = Array.fill(1000)(random.nextInt(3).toDouble)
    assert(unmixed(labels).isEmpty && unmixed(labels.sorted).exists(_.contains("0.00")))
    // Runs of two leave half of the distance, runs of four a quarter.
    def runs(length: Int) = labels.flatMap(Array.fill(length)(_))
    assert(unmixed(runs(4)).nonEmpty)
    assert(unmixed(Array.tabulate(100)(_ % 2.0)).isEmpty && unmixed(Array.fill(100)(0.1)).isEmpty)
    assert(unmixed(Array(3.0)).isEmpty)
  }

  test("one label is alike, in spite of rounding") {
    assert(objection(Seq(Array.fill(10)(0.1)), Seq(Array.fill(7)(0.1), Array.fill(9)(0.1))).isEmpty)
  }

  test("weights count") {
    val summaries = Seq(Array(3.0, 1.0), Array(1.0, 3.0)).map(weights => Seq(LabelSummary.of(Array(0.0, 1.0), weights)))
    assert(
      AlikeLabels.objection(summaries, new LabelMoments(summaries.flatten, ColumnNames())).exists(_.contains("0.50")))
  }
}
