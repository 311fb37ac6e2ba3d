package dwell.ml.tuning.metric

import java.util.Arrays
import java.util.Arrays.copyOf

/**
 * The area under the curve of two rates, over all thresholds of the score, as `BinaryClassificationMetrics` takes it: scores that are equal
 * are one point, and if there are more than `bins` points, so many that follow one another are one, from the largest score on. Spark does this
 * in each of several partitions, whose cuts are random.
 *
 * @param isRoc
 *   whether true positives are drawn over false positives; otherwise precision over recall
 * @param bins
 *   0: all points
 */
private[tuning] final class Areas(isRoc: Boolean, bins: Int) extends Metric {
  import Areas._

  override def output: Output = Output.Margin

  override def isOfEach: Boolean = true

  override def tally(): Tally = new Scores

  override def value(tallies: Seq[Tally]): Option[Double] = {
    val all = new Scores
    for (part <- tallies.collect { case scores: Scores => scores }; i <- 0 until part.count)
      all.append(part.scores(i), part.positive(i), part.negative(i))
    all.close()
    Some(area(binned(all.positive), binned(all.negative)))
  }

  /** The sums of groups of weights that follow one another, each a point. */
  private def binned(weights: Array[Double]): Array[Double] = {
    val grouping = if (bins == 0) 0 else weights.length / bins
    if (grouping < 2) weights else weights.grouped(grouping).map(_.sum).toArray
  }

  /** By trapezoids, over the points of falling scores. */
  private def area(positive: Array[Double], negative: Array[Double]): Double = {
    val (allPositive, allNegative) = (positive.sum, negative.sum)
    def share(part: Double, of: Double) = if (of == 0.0) 0.0 else part / of
    var truePositive, falsePositive, area, x = 0.0
    var y = if (isRoc) 0.0 else Double.NaN
    def draw(nextX: Double, nextY: Double): Unit = {
      // The first point of precision is that of recall 0, too.
      area += (nextX - x) * ((if (y.isNaN) nextY else y) + nextY) / 2.0
      x = nextX
      y = nextY
    }
    for (i <- positive.indices) {
      truePositive += positive(i)
      falsePositive += negative(i)
      val recall = share(truePositive, allPositive)
      if (isRoc) draw(share(falsePositive, allNegative), recall)
      else {
        val called = truePositive + falsePositive
        draw(recall, if (called == 0.0) 1.0 else truePositive / called)
      }
    }
    if (isRoc) draw(1.0, 1.0)
    area
  }
}

private[tuning] object Areas {

  /** Spark's name of a metric; None if it is another one. */
  def of(name: String, bins: Int): Option[Areas] = name match {
    case "areaUnderROC" => Some(new Areas(isRoc = true, bins))
    case "areaUnderPR" => Some(new Areas(isRoc = false, bins))
    case _ => None
  }

  /** Scores, and the weights of the rows that have them. */
  private final class Scores extends Tally {
    var count = 0
    var scores, positive, negative = new Array[Double](1024)

    override def add(score: Double, label: Double, weight: Double): Unit =
      if (label > 0.5) append(score, weight, 0.0) else append(score, 0.0, weight)

    def append(score: Double, ofPositive: Double, ofNegative: Double): Unit = {
      if (count == scores.length) resize(2 * count + 1)
      scores(count) = score
      positive(count) = ofPositive
      negative(count) = ofNegative
      count += 1
    }

    /** Falling scores, each once. */
    override def close(): this.type = {
      val rising = copyOf(scores, count)
      Arrays.sort(rising)
      var distinct = 0
      for (score <- rising) {
        if (distinct == 0 || java.lang.Double.compare(rising(distinct - 1), score) != 0) {
          rising(distinct) = score
          distinct += 1
        }
      }
      val (p, n) = (new Array[Double](distinct), new Array[Double](distinct))
      for (i <- 0 until count) {
        val at = distinct - 1 - Arrays.binarySearch(rising, 0, distinct, scores(i))
        p(at) += positive(i)
        n(at) += negative(i)
      }
      scores = Array.tabulate(distinct)(i => rising(distinct - 1 - i))
      positive = p
      negative = n
      count = distinct
      this
    }

    private def resize(length: Int): Unit = {
      scores = copyOf(scores, length)
      positive = copyOf(positive, length)
      negative = copyOf(negative, length)
    }
  }
}
