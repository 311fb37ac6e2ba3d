package dwell.record

/**
 * What a search for the best map of Params has tried.
 *
 * @param maps
 *   in their order
 * @param how
 *   how often the rows are read, and why
 * @param reading
 *   seconds of reading the rows, and of the fits of stages before the estimator
 * @param evaluation
 *   seconds of the predictions and metrics of each training set's models
 * @param seconds
 *   of the whole search, with the last fit
 */
final case class SearchFacts(
    maps: Seq[TriedMap],
    how: String,
    reading: Double,
    evaluation: Seq[Double],
    seconds: Double) {

  /** The number of training sets. */
  def sets: Int = evaluation.size

  /** Seconds of the fits on training sets. */
  def fits: Double = maps.map(_.seconds.sum).sum

  /** Passes or rounds of all these fits. */
  def rounds: Int = maps.map(_.rounds.sum).sum
}

/**
 * A map of Params and what its models are worth.
 *
 * @param params
 *   names and values
 * @param metric
 *   in the mean of the training sets
 * @param deviation
 *   the population's standard deviation over the training sets; NaN for one
 * @param isBest
 *   whether the model has these Params
 * @param seconds
 *   of the fit on each training set
 * @param rounds
 *   of the fit on each training set
 */
final case class TriedMap(
    params: Seq[(String, Any)],
    metric: Double,
    deviation: Double,
    isBest: Boolean,
    seconds: Seq[Double],
    rounds: Seq[Int])
