package dwell.data.block

import scala.collection.mutable

/**
 * What is known of the labels y_i and weights s_i of a source partition. Sums are taken in the order of the rows, for each
 * block first.
 *
 * @param rows
 *   number of rows
 * @param weighted
 *   whether any weight is not 1
 * @param weight
 *   sum of the weights
 * @param weightSquares
 *   sum of the squared weights
 * @param sum
 *   sum of s_i y_i
 * @param residual
 *   sum of s_i (y_i - centre)
 * @param squares
 *   sum of s_i (y_i - centre)^2
 * @param smallest
 *   smallest label; infinity without rows
 * @param largest
 *   largest label; -infinity without rows
 * @param positiveWeight
 *   sum of the weights of the rows with a positive label
 * @param otherWeight
 *   sum of the weights of the other rows
 * @param notBinary
 *   position and label of the first row whose label is neither 0 nor 1
 * @param classes
 *   sum of the weights of each class that occurs; empty unless labels are classes
 * @param neighbours
 *   how far the labels of rows that follow one another are from one another
 */
private[data] final case class LabelSummary(
    rows: Long,
    weighted: Boolean,
    weight: Double,
    weightSquares: Double,
    sum: Double,
    residual: Double,
    squares: Double,
    smallest: Double,
    largest: Double,
    positiveWeight: Double,
    otherWeight: Double,
    notBinary: Option[(Long, Double)],
    classes: Map[Int, Double],
    neighbours: Neighbours) {

  /** The weighted mean of the labels, up to rounding; 0 without rows. */
  def centre: Double = LabelSummary.centre(sum, weight)

  /**
   * The sum of s_i (y_i - middle)^2. A centre is rounded, so its residual moves along: without it, labels far from 0 would
   * lose digits where blocks differ (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983).
   */
  def squaresAbout(middle: Double): Double = {
    val shift = centre - middle
    squares + shift * (2.0 * residual + weight * shift)
  }

  private def residualAbout(middle: Double): Double = residual + weight * (centre - middle)

  /** The summary of these rows and of the rows that follow them. */
  def ++(that: LabelSummary): LabelSummary =
    if (rows == 0L) that
    else if (that.rows == 0L) this
    else {
      val middle = LabelSummary.centre(sum + that.sum, weight + that.weight)
      LabelSummary(
        rows + that.rows,
        weighted || that.weighted,
        weight + that.weight,
        weightSquares + that.weightSquares,
        sum + that.sum,
        residualAbout(middle) + that.residualAbout(middle),
        squaresAbout(middle) + that.squaresAbout(middle),
        math.min(smallest, that.smallest),
        math.max(largest, that.largest),
        positiveWeight + that.positiveWeight,
        otherWeight + that.otherWeight,
        notBinary.orElse(that.notBinary.map { case (row, label) => (rows + row, label) }),
        LabelSummary.merged(Seq(classes, that.classes)),
        neighbours ++ that.neighbours)
    }
}

private[data] object LabelSummary {

  /** The summary of no rows. */
  val Empty: LabelSummary = of(Array.emptyDoubleArray, null)

  /**
   * Summarises the labels of a block, in two passes.
   *
   * @param weights
   *   weight of each row, or null if every weight is 1
   * @param classified
   *   whether labels are classes, which are counted
   */
  def of(labels: Array[Double], weights: Array[Double], classified: Boolean = false): LabelSummary = {
    def weightOf(i: Int): Double = if (weights == null) 1.0 else weights(i)
    var weight, weightSquares, sum, positiveWeight, otherWeight = 0.0
    var smallest = Double.PositiveInfinity
    var largest = Double.NegativeInfinity
    var notBinary = -1
    var i = 0
    while (i < labels.length) {
      val s = weightOf(i)
      val y = labels(i)
      weight += s
      weightSquares += s * s
      sum += s * y
      if (y > 0.0) positiveWeight += s else otherWeight += s
      if (y < smallest) smallest = y
      if (y > largest) largest = y
      if (notBinary < 0 && y != 0.0 && y != 1.0) notBinary = i
      i += 1
    }
    val middle = centre(sum, weight)
    var residual, squares = 0.0
    i = 0
    while (i < labels.length) {
      val difference = labels(i) - middle
      residual += weightOf(i) * difference
      squares += weightOf(i) * (difference * difference)
      i += 1
    }
    LabelSummary(
      labels.length.toLong,
      weights != null,
      weight,
      weightSquares,
      sum,
      residual,
      squares,
      smallest,
      largest,
      positiveWeight,
      otherWeight,
      if (notBinary >= 0) Some((notBinary.toLong, labels(notBinary))) else None,
      if (!classified) Map.empty
      else if (notBinary < 0) Map(0 -> otherWeight, 1 -> positiveWeight)
      else ofClasses(labels, weightOf),
      Neighbours.of(labels, weightOf))
  }

  /** The sums of weights of all parts, in their order. */
  def merged(parts: Seq[Map[Int, Double]]): Map[Int, Double] =
    parts.reduce((some, more) =>
      more.foldLeft(some) { case (all, (c, weight)) => all.updated(c, all.getOrElse(c, 0.0) + weight) })

  private def ofClasses(labels: Array[Double], weight: Int => Double): Map[Int, Double] = {
    val sums = mutable.LongMap.empty[Double]
    for (i <- labels.indices) {
      val c = labels(i).toLong
      sums(c) = sums.getOrElse(c, 0.0) + weight(i)
    }
    sums.iterator.map { case (c, weight) => c.toInt -> weight }.toMap
  }

  private def centre(sum: Double, weight: Double): Double = if (weight > 0.0) sum / weight else 0.0
}

/**
 * The pairs of rows that follow one another.
 *
 * @param ends
 *   label and weight of the first row, and of the last one; None without rows
 * @param weight
 *   sum over the pairs of the products of their weights
 * @param squares
 *   sum of these products times the squared difference of the labels
 */
private[data] final case class Neighbours(
    ends: Option[((Double, Double), (Double, Double))],
    weight: Double,
    squares: Double) {

  /** The pairs of these rows and of the rows that follow them. */
  def ++(that: Neighbours): Neighbours = (ends, that.ends) match {
    case (Some((first, (y, s))), Some(((z, t), last))) =>
      Neighbours(
        Some((first, last)),
        weight + s * t + that.weight,
        squares + s * t * ((z - y) * (z - y)) + that.squares)
    case (None, _) => that
    case (_, None) => this
  }

  /**
   * The weighted mean of the squared differences, over its mean for all pairs of rows, which is twice the variance: about 1 if rows are in
   * random order, near 0 if they are sorted (von Neumann, "Distribution of the ratio of the mean square successive difference to the
   * variance", 1941). NaN without pairs or variance.
   */
  def ratio(variance: Double): Double = squares / weight / (2.0 * variance)
}

private[data] object Neighbours {

  def of(labels: Array[Double], weight: Int => Double): Neighbours = {
    var weights, squares = 0.0
    var i = 1
    while (i < labels.length) {
      val pair = weight(i - 1) * weight(i)
      val difference = labels(i) - labels(i - 1)
      weights += pair
      squares += pair * (difference * difference)
      i += 1
    }
    def end(i: Int) = (labels(i), weight(i))
    Neighbours(if (labels.length > 0) Some((end(0), end(labels.length - 1))) else None, weights, squares)
  }
}
