package dwell.solver

import dwell.data.ColumnPartition

/**
 * One round of primal CoCoA on the columns of one partition, squared loss. With residual r, row weights s and
 * committed coefficients alpha it improves
 *
 * {{{
 *   sigma' |A (a - alpha)|_s^2 / (2 S) - r^T A (a - alpha) / S + sum_i g_i(a_i)
 * }}}
 *
 * over the partition's coefficients a by coordinate descent. Centring is implicit: instead of subtracting its mean
 * from each column, what the means add up to is kept in one number, `kappa`.
 *
 * @param alpha
 *   committed coefficients; not changed
 * @param startCursor
 *   buckets visited before this round
 */
private[solver] final class PrimalRound(
    p: ColumnPartition,
    weights: Array[Double],
    r: RoundRequest,
    shared: Array[Byte],
    alpha: Array[Double],
    startCursor: Long,
    patience: Patience) {
  import PrimalRound._

  private val kernel = ColumnKernel(p)
  private val penalty = new ElasticNet(p, r)
  private val inverseWeight = 1.0 / r.totalWeight
  private val a = alpha.clone()
  private val residual = ResultLayout.doubles(shared)

  /** s * (r - sigma' A (a - alpha)), but for the means. */
  private val w = new Array[Double](p.rows)
  private var weightedSum = 0.0
  private var kappa = 0.0
  private var coordinates = 0L
  private var nonzeros = 0L

  /** Buckets visited after this round. */
  var cursor: Long = startCursor

  /** The step that the round proposes. */
  lazy val delta: Array[Double] = Array.tabulate(a.length)(i => a(i) - alpha(i))

  /** Runs the round and writes A (a - alpha), of the centred columns, into the vector of `result`. */
  def run(result: Array[Byte]): Measured = {
    readResidual()
    val before = totalPenalty(penalty, alpha)
    val certificate = if (r.certificate) certify() else NoCertificate
    descend()
    writeUpdate(result)
    Measured(
      before,
      totalPenalty(penalty, a),
      certificate.conjugate,
      certificate.ratio,
      certificate.correlation,
      coordinates,
      nonzeros,
      kappa)
  }

  private def start(j: Int): Double = if (weights == null) residual.get(j) else weights(j) * residual.get(j)

  private def readResidual(): Unit = {
    var sum = 0.0
    var j = 0
    while (j < w.length) {
      w(j) = start(j)
      require(
        !w(j).isNaN && !w(j).isInfinite,
        s"residual of row $j is ${residual.get(j)}, ${w(j)} times its weight: both must be finite")
      sum += w(j)
      j += 1
    }
    weightedSum = sum
  }

  private def descend(): Unit = {
    val budget = r.coordinates(p.numColumns)
    val order = new BucketOrder(p.numColumns, r.seed, p.index)
    var shift = (r.sigmaPrime * kappa) * r.totalWeight - weightedSum
    while (coordinates < budget && p.numColumns > 0) {
      val start = order.start(cursor)
      val end = order.end(start)
      var i = start
      while (i < end) {
        var dot = kernel.dot(i, w)
        if (r.centred) dot += p.mean(i) * shift
        val updated = penalty.minimise(i, curvature(i), a(i), dot * inverseWeight)
        val change = updated - a(i)
        if (change != 0.0) {
          a(i) = updated
          kernel.add(i, -(r.sigmaPrime * change), weights, w)
          if (r.centred) {
            kappa += change * p.mean(i)
            shift = (r.sigmaPrime * kappa) * r.totalWeight - weightedSum
          }
        }
        nonzeros += kernel.length(i)
        patience.spend(kernel.length(i))
        i += 1
      }
      coordinates += end - start
      cursor += 1
    }
  }

  /** Second derivative of the smooth part along coordinate i. */
  private def curvature(i: Int): Double =
    if (r.centred) r.sigmaPrime * p.variance(i)
    else r.sigmaPrime * (p.variance(i) + p.mean(i) * p.mean(i))

  /** The partition's share of the duality gap at the start of the round. */
  private def certify(): Certificate = {
    var conjugate = 0.0
    var ratio = 0.0
    var correlation = 0.0
    var chunk = 0
    while (chunk < p.numColumns) {
      val end = math.min(p.numColumns, chunk + ChunkColumns)
      var sum = 0.0
      var i = chunk
      while (i < end) {
        var dot = kernel.dot(i, w)
        if (r.centred) dot += p.mean(i) * -weightedSum
        val x = dot * inverseWeight
        val size = math.abs(x)
        sum += penalty.conjugate(i, x)
        ratio = math.max(ratio, quotient(size, penalty.l1(i)))
        correlation = math.max(correlation, quotient(size, math.sqrt(curvature(i) / r.sigmaPrime)))
        patience.spend(kernel.length(i))
        i += 1
      }
      conjugate += sum
      chunk = end
    }
    Certificate(conjugate, ratio, correlation)
  }

  private def writeUpdate(result: Array[Byte]): Unit = {
    val update = ResultLayout.vector(result)
    var j = 0
    while (j < w.length) {
      var u = (start(j) - w(j)) / r.sigmaPrime
      if (weights != null) u /= weights(j)
      if (r.centred) u -= kappa
      update.put(j, finite(u, "update", j))
      j += 1
    }
  }

}

private[solver] object PrimalRound {

  /** A partition's share of the duality gap: sum of conjugates, largest ratios of correlation to penalty and norm. */
  private final case class Certificate(conjugate: Double, ratio: Double, correlation: Double)

  private val NoCertificate = Certificate(Double.NaN, Double.NaN, Double.NaN)

  /** Sums over columns are taken chunk by chunk, so that native threads may share the chunks and give the same bits. */
  val ChunkColumns: Int = 4096

  def finite(value: Double, what: String, row: Int): Double =
    if (!value.isNaN && !value.isInfinite) value
    else throw new ArithmeticException(s"the $what of row $row overflowed: scale the features or the labels down")

  /** sum_i g_i(a_i). */
  def totalPenalty(penalty: ElasticNet, a: Array[Double]): Double = {
    var total = 0.0
    var chunk = 0
    while (chunk < a.length) {
      val end = math.min(a.length, chunk + ChunkColumns)
      var sum = 0.0
      var i = chunk
      while (i < end) {
        sum += penalty.value(i, a(i))
        i += 1
      }
      total += sum
      chunk = end
    }
    total
  }

  /** `x / scale`, where 0 / 0 is 0. */
  private def quotient(x: Double, scale: Double): Double = if (x == 0.0) 0.0 else x / scale
}

/** The product of a partition's (centred) columns with its coefficients. */
private[solver] object PrimalProduct {

  def run(
      p: ColumnPartition,
      r: RoundRequest,
      alpha: Array[Double],
      result: Array[Byte],
      patience: Patience): Measured = {
    val kernel = ColumnKernel(p)
    val v = new Array[Double](p.rows)
    var kappa = 0.0
    var nonzeros = 0L
    var i = 0
    while (i < alpha.length) {
      if (alpha(i) != 0.0) {
        nonzeros += kernel.length(i)
        kernel.add(i, alpha(i), null, v)
        if (r.centred) kappa += alpha(i) * p.mean(i)
        patience.spend(kernel.length(i))
      }
      i += 1
    }
    val product = ResultLayout.vector(result)
    var j = 0
    while (j < v.length) {
      product.put(j, PrimalRound.finite(if (r.centred) v(j) - kappa else v(j), "product", j))
      j += 1
    }
    val penalty = PrimalRound.totalPenalty(new ElasticNet(p, r), alpha)
    Measured(penalty, penalty, Double.NaN, Double.NaN, Double.NaN, alpha.length.toLong, nonzeros, kappa)
  }
}
