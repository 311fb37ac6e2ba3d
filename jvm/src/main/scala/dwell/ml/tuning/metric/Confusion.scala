package dwell.ml.tuning.metric

import scala.collection.mutable

/**
 * The metrics of `MulticlassMetrics` that follow from the weights of each label and each prediction.
 *
 * @param name
 *   Spark's name of the metric
 * @param label
 *   the class of a metric of one class
 * @param beta
 *   of F measures
 */
private[tuning] final class Confusion(name: String, label: Double, beta: Double) extends Metric {
  import Confusion._

  override def output: Output = Output.Prediction

  override def tally(): Tally = new Counts

  override def value(tallies: Seq[Tally]): Option[Double] = {
    val counts = new Counts
    tallies.foreach { case part: Counts => part.weights.foreach { case ((p, y), weight) => counts.add(p, y, weight) } }
    val found = new Classes(counts.weights.toMap)
    import found._
    name match {
      case "f1" => weighted(fMeasure(_, 1.0))
      case "accuracy" => Some(right / all)
      case "weightedPrecision" => weighted(precision)
      case "weightedRecall" | "weightedTruePositiveRate" => weighted(recall)
      case "weightedFalsePositiveRate" => weighted(falsePositiveRate)
      case "weightedFMeasure" => weighted(fMeasure(_, beta))
      case "hammingLoss" => Some((all - right) / all)
      case _ if !ofLabel.contains(label) => None
      case "truePositiveRateByLabel" | "recallByLabel" => Some(recall(label))
      case "falsePositiveRateByLabel" => Some(falsePositiveRate(label))
      case "precisionByLabel" => Some(precision(label))
      case "fMeasureByLabel" => Some(fMeasure(label, beta))
      case _ => None
    }
  }
}

private[tuning] object Confusion {

  /** The metric of probabilities: see [[LogLoss]]. */
  val LogLoss = "logLoss"

  /** The weights by prediction and label. */
  private final class Counts extends Tally {
    val weights = mutable.HashMap.empty[(Double, Double), Double]

    override def add(prediction: Double, label: Double, weight: Double): Unit =
      weights((prediction, label)) = weights.getOrElse((prediction, label), 0.0) + weight
  }

  private final class Classes(weights: Map[(Double, Double), Double]) {
    private def sums(of: ((Double, Double)) => Double): Map[Double, Double] =
      weights.groupBy { case (pair, _) => of(pair) }.map { case (c, own) => c -> own.values.sum }

    val ofLabel: Map[Double, Double] = sums(_._2)
    private val ofPrediction = sums(_._1)
    val all: Double = weights.values.sum
    val right: Double = weights.collect { case ((p, y), weight) if p == y => weight }.sum

    private def both(c: Double): Double = weights.getOrElse((c, c), 0.0)

    def precision(c: Double): Double = ofPrediction.get(c).filter(_ != 0.0).fold(0.0)(both(c) / _)

    def recall(c: Double): Double = both(c) / ofLabel(c)

    def falsePositiveRate(c: Double): Double = (ofPrediction.getOrElse(c, 0.0) - both(c)) / (all - ofLabel(c))

    def fMeasure(c: Double, beta: Double): Double = {
      val (p, r) = (precision(c), recall(c))
      if (p + r == 0.0) 0.0 else (1.0 + beta * beta) * p * r / (beta * beta * p + r)
    }

    /** The mean over the labels, by their weights. */
    def weighted(of: Double => Double): Option[Double] =
      Some(ofLabel.map { case (c, weight) => of(c) * weight / all }.sum)
  }
}
