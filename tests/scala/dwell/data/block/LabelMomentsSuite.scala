package dwell.data.block

import scala.util.Random

import dwell.LimitedSuite

/** Moments of labels and weights, merged from those of blocks. */
class LabelMomentsSuite extends LimitedSuite {

  private val names = ColumnNames("terms", "size", "importance")

  /** The moments of labels and weights that are split into blocks of the given sizes. */
  private def merged(labels: Seq[Double], weights: Seq[Double], sizes: Seq[Int]): LabelMoments = {
    val starts = sizes.scanLeft(0)(_ + _)
    assert(starts.last == labels.size)
    new LabelMoments(
      starts.zip(starts.tail).map { case (from, until) =>
        summary(labels.slice(from, until), weights.slice(from, until))
      },
      names)
  }

  private def summary(labels: Seq[Double], weights: Seq[Double]): LabelSummary =
    LabelSummary.of(labels.toArray, if (weights.forall(_ == 1.0)) null else weights.toArray)

  private val splits = Seq(Seq(600), Seq(0, 1, 0, 599), Seq(200, 200, 200), Seq.fill(60)(10), Seq(0, 0, 3, 590, 7, 0))

  test("moments are those of the definition, however rows are split and ordered") {
    val random = new Random(1)
    val shuffled = Seq.fill(600)(random.nextGaussian() * 3.0 + 1.0)
    for {
      labels <- Seq(shuffled, shuffled.sorted, shuffled.map(y => if (y > 1.0) 1.0 else 0.0).sorted)
      weighted <- Seq(false, true)
      split <- splits
    } {
      val weights = Seq.fill(600)(if (weighted) 0.1 + random.nextDouble() else 1.0)
      val moments = merged(labels, weights, split)
      val total = weights.sum
      val mean = labels.zip(weights).map { case (y, s) => s * y }.sum / total
      val variance = labels.zip(weights).map { case (y, s) => s * (y - mean) * (y - mean) }.sum / total
      def close(a: Double, b: Double): Boolean = math.abs(a - b) <= 1e-13 * math.max(1.0, b.abs)
      assert(close(moments.totalWeight, total) && close(moments.weightSquareSum, weights.map(s => s * s).sum))
      assert(close(moments.mean, mean) && close(moments.variance, variance), s"$split")
      assert(moments.weighted == weighted)
      assert(moments.smallest == labels.min && moments.largest == labels.max)
      val positive = labels.zip(weights).collect { case (y, s) if y > 0.0 => s }.sum
      assert(close(moments.positiveWeight, positive) && close(moments.otherWeight, total - positive))
      val other = labels.indexWhere(y => y != 0.0 && y != 1.0)
      assert(moments.notBinary == (if (other < 0) None else Some((other.toLong, labels(other)))))
    }
  }

  test(
    "neighbours are as far apart as any rows in random order, whatever their weights, and alike where labels are sorted") {
    val random = new Random(6)
    val normal = Seq.fill(2000)(1e3 + random.nextGaussian())
    val rare = Seq.fill(2000)(if (random.nextInt(20) == 0) 1.0 else 0.0)
    for (labels <- Seq(normal, rare); balanced <- Seq(false, true); sizes <- Seq(Seq(2000), Seq(0, 1, 0, 999, 1000))) {
      def weight(y: Double) = if (balanced && y == 1.0) 19.0 else 1.0
      def ratio(labels: Seq[Double]) = merged(labels, labels.map(weight), sizes).neighbourRatio
      def byDefinition(labels: Seq[Double]) = {
        val pairs = labels.zip(labels.tail).map { case (y, z) => (weight(y) * weight(z), (y - z) * (y - z)) }
        val mean = pairs.map { case (s, d) => s * d }.sum / pairs.map(_._1).sum
        mean / (2.0 * merged(labels, labels.map(weight), sizes).variance)
      }
      // With heavy weights few pairs count.
      assert(math.abs(ratio(labels) - 1.0) < 0.3 && ratio(labels.sorted) < 0.02)
      for (order <- Seq(labels, labels.sorted)) assert(math.abs(ratio(order) / byDefinition(order) - 1.0) < 1e-9)
    }
    assert(merged(Seq(1.0, 1.0), Seq(1.0, 1.0), Seq(1, 1)).neighbourRatio.isNaN)
  }

  test("a summary of several blocks is that of all their rows, and of one block its own") {
    val random = new Random(5)
    val labels = Seq.fill(300)(1e6 + random.nextGaussian())
    for (weighted <- Seq(false, true); labels <- Seq(labels, labels.map(_ => 1.0) :+ 0.5)) {
      val weights = labels.map(_ => if (weighted) 0.1 + random.nextDouble() else 1.0)
      val whole = summary(labels, weights)
      val parts = labels.zip(weights).grouped(70).map(_.unzip).map { case (y, s) => summary(y, s) }.toSeq
      val merged = parts.reduce(_ ++ _)
      def close(a: Double, b: Double): Boolean = math.abs(a - b) <= 1e-13 * math.max(1.0, b.abs)
      assert(merged.rows == whole.rows && merged.weighted == whole.weighted && merged.notBinary == whole.notBinary)
      assert(merged.smallest == whole.smallest && merged.largest == whole.largest)
      assert(close(merged.sum, whole.sum) && close(merged.weight, whole.weight))
      assert(close(merged.weightSquares, whole.weightSquares) && close(merged.centre, whole.centre))
      assert(close(merged.positiveWeight, whole.positiveWeight) && close(merged.otherWeight, whole.otherWeight))
      // About any point, since centre and residual are rounded.
      assert(math.abs(merged.squaresAbout(1e6) - whole.squaresAbout(1e6)) <= 1e-9 * whole.squaresAbout(1e6))
      assert((LabelSummary.Empty ++ whole) == whole && (whole ++ LabelSummary.Empty) == whole)
    }
  }

  test("one block has the bits of two passes over the rows") {
    val random = new Random(2)
    val labels = Array.fill(500)(random.nextGaussian())
    val weights = Array.fill(500)(random.nextDouble())
    var sum, total, squares = 0.0
    labels.indices.foreach { i =>
      sum += weights(i) * labels(i)
      total += weights(i)
    }
    labels.indices.foreach { i =>
      val difference = labels(i) - sum / total
      squares += weights(i) * (difference * difference)
    }
    val moments = merged(labels.toSeq, weights.toSeq, Seq(500))
    assert(moments.mean == sum / total && moments.variance == squares / total && moments.totalWeight == total)
  }

  test("labels far from 0 that are sorted keep their digits") {
    // Seconds of a day: the centre of a block is known to 1e-7 only.
    val m = 86400
    val labels = (0 until m).map(j => 1.7e9 + j * 1e-3)
    val exact = labels.map(y => BigDecimal(y) - BigDecimal(1.7e9))
    val mean = exact.sum / m
    val variance = (exact.map(d => (d - mean) * (d - mean)).sum / m).toDouble
    for (blocks <- Seq(1, 7, 100)) {
      val sizes = Seq.fill(blocks - 1)(m / blocks) :+ (m - (blocks - 1) * (m / blocks))
      val found = merged(labels, Seq.fill(m)(1.0), sizes).variance
      assert(math.abs(found - variance) <= 1e-11 * variance, s"$blocks blocks: ${found / variance - 1.0}")
    }
  }

  test("a label that is not binary is found by its number over all blocks") {
    val moments = merged(Seq(0.0, 1.0, 1.0, 0.0, 0.5, 2.0), Seq.fill(6)(1.0), Seq(2, 0, 1, 3))
    assert(moments.notBinary.contains((4L, 0.5)))
    val many = LabelSummary.of(Array(0.0), null).copy(rows = Int.MaxValue)
    val late = new LabelMoments(Seq(many, many, LabelSummary.of(Array(1.0, 7.0), null)), names)
    assert(late.notBinary.contains((2L * Int.MaxValue + 1L, 7.0)))
  }

  test("refused: sums and moments that leave the range of a double, though no block does") {
    def failure(labels: Seq[Double], weights: Seq[Double]): String =
      intercept[IllegalArgumentException](merged(labels, weights, labels.map(_ => 1))).getMessage
    assert(failure(Seq(1.0, 2.0), Seq(1.2e308, 1.2e308)).contains("'importance'"))
    assert(failure(Seq(1.0, 2.0), Seq(1e-200, 1e-200)).contains("'importance'"))
    assert(failure(Seq(1e200, 2.0), Seq(1.0, 1.0)).contains("'size'"))
    assert(failure(Seq(1.5e308, 1.5e308), Seq(1.0, 1.0)).contains("'size'"))
  }
}
