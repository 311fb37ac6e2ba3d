package dwell.ml.tuning

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
    val all = merged(tallies.collect { case scores: Scores => scores })
    val points = binned(all)
    val (positive, negative) = (points.map(_.positive).sum, points.map(_.negative).sum)
    var (truePositive, falsePositive) = (0.0, 0.0)
    val curve = points.map { point =>
      truePositive += point.positive
      falsePositive += point.negative
      val recall = if (positive == 0.0) 0.0 else truePositive / positive
      if (isRoc) (if (negative == 0.0) 0.0 else falsePositive / negative, recall)
      else (recall, if (truePositive + falsePositive == 0.0) 1.0 else truePositive / (truePositive + falsePositive))
    }
    val drawn =
      if (isRoc) ((0.0, 0.0) +: curve) :+ ((1.0, 1.0)) else (0.0, curve.headOption.fold(1.0)(_._2)) +: curve
    Some(drawn.zip(drawn.tail).map { case ((x, y), (nextX, nextY)) => (nextX - x) * (nextY + y) / 2.0 }.sum)
  }

  private def binned(points: IndexedSeq[Point]): IndexedSeq[Point] = {
    val grouping = if (bins == 0) 0 else points.length / bins
    if (grouping < 2) points
    else
      points
        .grouped(grouping)
        .map(group => Point(group.head.score, group.map(_.positive).sum, group.map(_.negative).sum))
        .toIndexedSeq
  }
}

private[tuning] object Areas {

  /** Spark's name of a metric; None if it is another one. */
  def of(name: String, bins: Int): Option[Areas] = name match {
    case "areaUnderROC" => Some(new Areas(isRoc = true, bins))
    case "areaUnderPR" => Some(new Areas(isRoc = false, bins))
    case _ => None
  }

  /** The weights of the rows with a score. */
  private final case class Point(score: Double, positive: Double, negative: Double)

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
      val order = (0 until count).sortBy(-scores(_))
      val (s, p, n) = (order.map(scores(_)), order.map(positive(_)), order.map(negative(_)))
      count = 0
      for (i <- s.indices) {
        if (count > 0 && scores(count - 1) == s(i)) {
          positive(count - 1) += p(i)
          negative(count - 1) += n(i)
        } else append(s(i), p(i), n(i))
      }
      resize(count)
      this
    }

    private def resize(length: Int): Unit = {
      scores = copyOf(scores, length)
      positive = copyOf(positive, length)
      negative = copyOf(negative, length)
    }
  }

  private def merged(parts: Seq[Scores]): IndexedSeq[Point] = {
    val all = new Scores
    for (part <- parts; i <- 0 until part.count) all.append(part.scores(i), part.positive(i), part.negative(i))
    all.close()
    (0 until all.count).map(i => Point(all.scores(i), all.positive(i), all.negative(i)))
  }
}
