package dwell.ml.tuning.metric

/** A metric of predictions, taken row by row and put together on the driver, as one of Spark's evaluators defines it. */
private[tuning] trait Metric extends Serializable {

  /** What the metric is of. */
  def output: Output

  /** Whether a tally grows with the rows. */
  def isOfEach: Boolean = false

  /** A tally of no rows. */
  def tally(): Tally

  /** The metric of the tallies of all partitions, in their order; None where Spark's evaluator has to say what is wrong. */
  def value(tallies: Seq[Tally]): Option[Double]
}

/** What a partition says of its rows. */
private[tuning] trait Tally extends Serializable {

  /** Adds a row. */
  def add(output: Double, label: Double, weight: Double): Unit

  /** Ends with the last row of the partition. */
  def close(): this.type = this
}
