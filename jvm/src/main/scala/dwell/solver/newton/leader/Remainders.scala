package dwell.solver.newton.leader

/**
 * Coordinates of a model in which remainders stand for the features that others nearly explain. A remainder is a combination of the entries
 * of a row, the centred features and the intercept's 1, of which sums over rows show a curvature that sums over the feature itself cannot
 * tell from rounding (Fukaya et al., "Shifted Cholesky QR for computing the QR factorization of ill-conditioned matrices", SIAM Journal
 * on Scientific Computing 42, 2020, replaces all columns in this way). With v in these coordinates a model is w = v on the features that are
 * kept, plus the weights of each remainder times its v.
 *
 * @param weights
 *   of each entry of a row, for each feature that is replaced
 */
private[newton] final class Remainders private (shape: ModelShape, weights: Map[Int, Array[Double]]) {
  import Remainders._

  private val n = shape.perOutput

  def isEmpty: Boolean = weights.isEmpty

  /** For each feature that is replaced its number and the weights, as a pass takes them. */
  def numbers: Array[Double] = weights.toArray.sortBy(_._1).flatMap { case (feature, own) => feature.toDouble +: own }

  /** The model with these coordinates. */
  def original(v: Array[Double]): Array[Double] = {
    val model = v.clone()
    for (output <- 0 until shape.outputs; feature <- weights.keys) model(output * n + feature) = 0.0
    for (output <- 0 until shape.outputs; (feature, own) <- weights; e <- 0 until n) {
      model(output * n + e) += own(e) * v(output * n + feature)
    }
    model
  }

  /**
   * With more remainders.
   *
   * @param found
   *   combinations of these coordinates, of coordinates that stay and one that is replaced
   */
  def and(found: Seq[Remainder]): Remainders =
    new Remainders(shape, weights ++ found.map(r => r.feature -> ofRow.original(r.weights)))

  /** These coordinates' values `v` in those with more remainders. */
  def moved(v: Array[Double], found: Seq[Remainder]): Array[Double] = {
    val next = v.clone()
    for (output <- 0 until shape.outputs; r <- found) {
      val value = v(output * n + r.feature) / r.weights(r.feature)
      for (e <- 0 until n if e != r.feature) next(output * n + e) -= r.weights(e) * value
      next(output * n + r.feature) = value
    }
    next
  }

  /**
   * The size of what rounding leaves of each combination of the rows' entries.
   *
   * @param sizes
   *   root of the mean square of each entry of a row
   */
  def rounding(found: Seq[Remainder], sizes: Array[Double]): Seq[Double] =
    found.map(r => roundingOf(ofRow.original(r.weights), sizes))

  /** What rounding may add to a prediction of the model with the coordinates `v`, in the root of the mean square. */
  def roundingAt(v: Array[Double], sizes: Array[Double]): Double = {
    val model = original(v)
    (0 until shape.outputs).map { output =>
      val own = roundingOf(model.slice(output * n, (output + 1) * n), sizes)
      own + weights.map { case (d, t) => math.abs(v(output * n + d)) * roundingOf(t, sizes) }.sum
    }.sum
  }

  /** The same for a row's entries, which have one output. */
  private def ofRow: Remainders = new Remainders(shape.copy(outputs = 1), weights)
}

/**
 * A combination of coordinates.
 *
 * @param feature
 *   that it replaces
 * @param weights
 *   of each coordinate of an output
 */
private[newton] final case class Remainder(feature: Int, weights: Array[Double]) {

  /** The same, shorter by a factor. */
  def over(factor: Double): Remainder = copy(weights = weights.map(_ / factor))
}

private[newton] object Remainders {

  /** The coordinates that a model has. */
  def none(shape: ModelShape): Remainders = new Remainders(shape.copy(hasScale = false), Map.empty)

  /** Products round in the units of the last place, and a sum of n of them adds up about as the root of n. */
  private def roundingOf(weights: Array[Double], sizes: Array[Double]): Double = {
    val squares = weights.indices.map(e => weights(e) * sizes(e) * (weights(e) * sizes(e))).sum
    Math.ulp(1.0) * (2.0 + math.sqrt(weights.length.toDouble)) * math.sqrt(squares)
  }
}
