package dwell.solver.linear

/**
 * The sums of a pass over rows, as means. Of the squared loss they tell loss and gradient of any model, up to rounding: at the distance d from
 * the model of the pass, with the mean loss f, the mean gradient g and the Gram matrix H of the pass,
 *
 * {{{
 *   loss = f + g'd + d'Hd / 2,   gradient = g + Hd
 * }}}
 *
 * @param at
 *   the model of the pass: n numbers, coefficients of centred features, then the intercept
 * @param loss
 *   mean loss
 * @param vector
 *   mean gradient, moments and Hessian, as in [[dwell.jni.PassLayout]]
 * @param triangles
 *   where the lower triangle of the Hessian begins in `vector`
 * @param rows
 *   the number of rows
 * @param weight
 *   the sum of their weights
 */
private[solver] final case class FirstPass(
    at: Array[Double],
    loss: Double,
    vector: Array[Double],
    triangles: Int,
    rows: Long,
    weight: Double) {
  import FirstPass._

  /** The pass over these rows and the rows of another pass at the same model. */
  def and(other: FirstPass): FirstPass = {
    val all = weight + other.weight
    def mean(own: Double, others: Double) = (weight * own + other.weight * others) / all
    copy(
      loss = mean(loss, other.loss),
      vector = Array.tabulate(vector.length)(i => mean(vector(i), other.vector(i))),
      rows = rows + other.rows,
      weight = all)
  }

  /** The squared loss at a model. */
  def squaredLoss(model: Array[Double]): Told = {
    val n = at.length
    val d = Array.tabulate(n)(j => model(j) - at(j))
    val gradient = java.util.Arrays.copyOf(vector, n)
    val sizes = gradient.map(math.abs)
    var k = triangles
    for (i <- 0 until n) {
      var j = 0
      while (j <= i) {
        val h = vector(k)
        gradient(i) += h * d(j)
        sizes(i) += math.abs(h * d(j))
        if (j < i) {
          gradient(j) += h * d(i)
          sizes(j) += math.abs(h * d(i))
        }
        j += 1
        k += 1
      }
    }
    // g'd + d'Hd / 2 is the mean of both gradients times d.
    val change = (0 until n).map(j => 0.5 * (vector(j) + gradient(j)) * d(j)).sum
    val size = math.abs(loss) + (0 until n).map(j => sizes(j) * math.abs(d(j))).sum
    // A sum of m terms rounds about as the root of m.
    val unit = Safety * Math.ulp(1.0) * (2.0 + math.sqrt(rows.toDouble))
    Told(loss + change, gradient, unit * size, sizes.map(unit * _))
  }
}

private[solver] object FirstPass {

  /**
   * A loss, as sums tell it.
   *
   * @param gradient
   *   by coefficients and intercept
   * @param lossError
   *   what rounding may have changed of the loss
   * @param gradientErrors
   *   the same of each number of the gradient
   */
  final case class Told(loss: Double, gradient: Array[Double], lossError: Double, gradientErrors: Array[Double])

  /** Times the rounding that is expected. */
  private val Safety = 4.0
}
