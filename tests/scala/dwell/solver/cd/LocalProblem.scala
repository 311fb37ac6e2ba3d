package dwell.solver.cd

import java.util.concurrent.atomic.AtomicLong

import dwell.base.LittleEndian
import dwell.data.{ColumnData, LocalData, RowData, TestData}
import dwell.data.block.LabeledRow
import dwell.data.columns.ColumnPartition
import dwell.data.rows.BlockArrays
import dwell.jni.{Cancellation, CdLayout, ResultHeader}
import dwell.problem.{Labels, MarginLoss, Penalty}
import dwell.solver.cd.worker.{DualSubproblem, NativeCd, PrimalSubproblem, RoundRequest, Subproblem}
import dwell.spark.NativeLibrary

/** A problem on random data in one orientation, with the leader's part of a round in either orientation, without
 * Spark. */
private[solver] abstract class LocalProblem(rows: Seq[LabeledRow], val numPartitions: Int) {
  val kept: Seq[LabeledRow] = rows.filter(_.weight > 0.0)
  val weights: Array[Double] = TestData.weights(rows)
  val rowWeights: Array[Double] = kept.map(_.weight).toArray
  val totalWeight: Double = rowWeights.sum

  def data: IndexedSeq[LocalData]
  def subproblem: Subproblem

  /** The shared vector at coordinates of zero. */
  def start: Array[Double]

  /** The shared vector after the partitions' updates, added in order. */
  def after(shared: Array[Double], results: Seq[Array[Byte]]): Array[Double]

  def coordinates: Int = data.map(_.coordinates).sum

  def request(
      fit: Long,
      round: Long,
      budget: Double = 1.0,
      certificate: Boolean = false,
      stamps: Array[Long] = new Array[Long](numPartitions)): RoundRequest =
    RoundRequest(
      fit,
      round,
      seed = 42L,
      budget,
      certificate,
      threads = 1,
      stamps,
      sigmaPrime = numPartitions.toDouble,
      totalWeight,
      theta1 = 1.0,
      theta2 = 0.0,
      points = Array.emptyDoubleArray,
      subproblem)

  def pack(vector: Array[Double]): Array[Byte] = LittleEndian.bytes(vector)

  def newResult: Array[Byte] = ResultHeader.allocate(start.length)

  def vector(result: Array[Byte]): Array[Double] = {
    val values = new Array[Double](start.length)
    ResultHeader.vector(result).get(values)
    values
  }

  /** Sum of the vectors of several results. */
  def sum(results: Seq[Array[Byte]]): Array[Double] = {
    val sum = new Array[Double](start.length)
    results.foreach(result => vector(result).zipWithIndex.foreach { case (u, j) => sum(j) += u })
    sum
  }

  /** One partition's result of a round; None where the state is lost. */
  def round(
      k: Int,
      r: RoundRequest,
      shared: Array[Double] = start,
      cancellation: Cancellation = Cancellation.NEVER): Option[Array[Byte]] = {
    val result = newResult
    if (NativeCd.round(data(k), r, pack(shared), result, cancellation)) Some(result) else None
  }

  def product(k: Int, r: RoundRequest): Option[Array[Byte]] = {
    val result = newResult
    if (NativeCd.product(data(k), r, result, Cancellation.NEVER)) Some(result) else None
  }

  /** Runs rounds and gives every result, by round and partition. */
  def run(fit: Long, rounds: Int, budget: Double = 1.0, certificate: Boolean = false): Seq[Seq[Array[Byte]]] = {
    var shared = start
    (0 until rounds).map { t =>
      val r = request(fit, t, budget, certificate)
      val results = data.indices.map(round(_, r, shared).get)
      shared = after(shared, results)
      results
    }
  }
}

private[solver] object LocalProblem {
  private val fits = new AtomicLong(1000000L)

  /** A new fit. The library is loaded for it. */
  def nextFit(): Long = {
    NativeLibrary.require()
    fits.incrementAndGet()
  }

  /** A result without its time. */
  def comparable(result: Array[Byte]): Seq[Byte] = {
    val copy = result.clone()
    ResultHeader.put(copy, ResultHeader.SOLVER_NANOS, 0.0)
    copy.toSeq
  }
}

/** Least squares with an elastic net, by columns. The shared vector is the residual. */
private[solver] final class ColumnProblem(
    rows: Seq[LabeledRow],
    numPartitions: Int,
    val l1: Double,
    val l2: Double,
    val centred: Boolean = true,
    val scaleFactor: Double = 1.0)
    extends LocalProblem(rows, numPartitions) {
  val partitions: Array[ColumnPartition] =
    TestData.partitions(rows.grouped(math.max(1, rows.size / 3)).toSeq, numPartitions)

  override val data: IndexedSeq[ColumnData] = partitions.toIndexedSeq.map(ColumnData(_, weights))

  override val subproblem: PrimalSubproblem = PrimalSubproblem(Penalty(l1, l2, scaleFactor), centred)

  override val start: Array[Double] = {
    val raw = kept.map(_.label).toArray
    val mean = if (centred) raw.zip(rowWeights).map { case (y, s) => s * y }.sum / totalWeight else 0.0
    raw.map(_ - mean)
  }

  override def after(shared: Array[Double], results: Seq[Array[Byte]]): Array[Double] =
    shared.zip(sum(results)).map { case (r, u) => r - u }

  def loss(residual: Array[Double]): Double =
    residual.zip(rowWeights).map { case (r, s) => s * r * r }.sum / (2.0 * totalWeight)

  /** Coefficients by feature, after the step that is pending. */
  def coefficients(fit: Long): Map[Int, Double] =
    partitions.flatMap { p =>
      val state = TravellingStep.committed(NativeCd.exportState(fit, p.index).get, 1.0, 0.0)
      p.columns.zip(state.alpha)
    }.toMap
}

/**
 * Any loss with an elastic net, by rows, which go to the partitions in turn. The shared vector is that of the
 * coefficients. For classification the labels are the signs of the rows' labels.
 *
 * @param nu
 *   weight of the intercept; 0 for no intercept
 */
private[solver] final class RowProblem(
    rows: Seq[LabeledRow],
    numPartitions: Int,
    val loss: MarginLoss,
    val l2: Double,
    val l1: Double = 0.0,
    val scaleFactor: Double = 0.0,
    val nu: Double = 0.0,
    dense: Boolean = false)
    extends LocalProblem(rows, numPartitions) {
  val features: Int = rows.head.features.size
  val x: Array[Array[Double]] = kept.map(_.features.toArray).toArray
  val labels: Array[Double] =
    kept.map(r => if (loss.labels != Labels.Signed) r.label else if (r.label > 0.0) 1.0 else -1.0).toArray

  val mean: Array[Double] = Array.tabulate(features)(j => average(_.apply(j)))
  private val variance = Array.tabulate(features)(j => average(row => math.pow(row(j) - mean(j), 2)))
  private val constant = Array.tabulate(features)(j => x.forall(_.apply(j) == x(0)(j)))

  /** One number for each feature, even if the solver gets null. */
  val scale: Array[Double] = Array.tabulate(features) { j =>
    if (constant(j)) 0.0 else if (scaleFactor > 0.0) 1.0 / (scaleFactor * variance(j)) else 1.0
  }

  private def average(value: Array[Double] => Double): Double =
    x.zip(rowWeights).map { case (row, s) => s * value(row) }.sum / totalWeight

  /** Global numbers of the rows of each partition. */
  val assigned: IndexedSeq[Array[Int]] =
    (0 until numPartitions).map(k => x.indices.filter(_ % numPartitions == k).toArray)

  override val data: IndexedSeq[RowData] = assigned.zipWithIndex.map { case (members, k) =>
    // Two blocks, of different sizes.
    val (first, second) = members.splitAt((members.length + 2) / 3)
    RowData(
      k,
      features,
      Array(first, second).map(block),
      if (scale.forall(_ == 1.0)) null else scale,
      if (nu == 0.0) null else mean,
      isClassified = false)
  }

  private def block(members: Array[Int]): BlockArrays = {
    val nonzeros = members.map(i => x(i).indices.filter(dense || x(i)(_) != 0.0).toArray)
    val values = members.zip(nonzeros).flatMap { case (i, ids) => ids.map(x(i)(_)) }
    val single = values.forall(v => v.toFloat.toDouble == v)
    val ones = !dense && values.forall(_ == 1.0)
    BlockArrays(
      if (dense) null else nonzeros.map(_.length).scanLeft(0)(_ + _),
      if (dense) null else nonzeros.flatten,
      if (single && !ones) values.map(_.toFloat) else null,
      if (single) null else values,
      members.map(labels(_)),
      if (weights == null) null else members.map(rowWeights(_)))
  }

  private def product(a: Array[Double], b: Array[Double]): Double =
    a.indices.map(j => scale(j) * a(j) * b(j)).sum

  private val meanProduct = product(mean, mean)

  override val subproblem: DualSubproblem = problemAt(0.0)

  /** The subproblem at raw intercept `offset`, which is also the candidate of the certificate. */
  def problemAt(offset: Double): DualSubproblem =
    DualSubproblem(loss, l2, if (nu == 0.0) 0.0 else meanProduct + nu, offset, Array(offset))

  override val start: Array[Double] = new Array[Double](features)

  override def after(shared: Array[Double], results: Seq[Array[Byte]]): Array[Double] =
    shared.zip(sum(results)).map { case (w, u) => w + u }

  /** sum_i s_i l(x_i w + b) / S. */
  def lossAt(w: Array[Double], b: Double): Double =
    x.indices.map { i =>
      rowWeights(i) * loss.value(x(i).indices.map(j => x(i)(j) * w(j)).sum + b, labels(i))
    }.sum / totalWeight

  /** The penalty of coefficients; l1_j and l2_j relate to l1 and l2 by the scale of a feature that is not constant.
   * */
  def penalty(w: Array[Double]): Double = w.indices
    .filter(scale(_) > 0.0)
    .map(j => l1 / math.sqrt(scale(j)) * math.abs(w(j)) + 0.5 * l2 / scale(j) * w(j) * w(j))
    .sum

  /** The coefficients at these sums of the products and of the kappas. */
  def coefficients(u: Array[Double], kappa: Double): Array[Double] = Array.tabulate(features) { j =>
    val centred = if (nu == 0.0) u(j) else u(j) - kappa * scale(j) * mean(j)
    math.signum(centred) * math.max(0.0, math.abs(centred) - l1 / l2 * math.sqrt(scale(j)))
  }
}

/**
 * The leader of dual rounds, with an intercept by the method of multipliers: the intercept has a quadratic penalty
 * about `centre`, which moves to the intercept now and then.
 */
private[solver] final class DualRounds(p: RowProblem, fit: Long, threads: Int = 1) {
  private val u = new Array[Double](p.features)
  private var kappa = 0.0
  private var rounds = 0L

  /** Centre of the penalty of the intercept (of centred features). */
  private var centre = 0.0

  def coefficients: Array[Double] = p.coefficients(u, kappa)

  /** The intercept for features that are not centred. */
  def intercept: Double =
    if (p.nu == 0.0) 0.0 else centre + p.nu * kappa - coefficients.zip(p.mean).map { case (w, m) => w * m }.sum

  /** The distance of the sum of the dual variables from 0. */
  def imbalance: Double = math.abs(kappa) * p.l2

  /** One round; returns the primal and the dual objective at its start, and the dual one at its end. Rounds minimise
   * both. */
  def round(): DualRounds.Objectives = {
    val request =
      p.request(fit, rounds, certificate = true).copy(threads = threads, subproblem = p.problemAt(intercept))
    val before = coefficients
    val (kappaBefore, interceptBefore) = (kappa, intercept)
    val results = p.data.indices.map(p.round(_, request, before).get)
    def slot(i: Int): Double = results.map(ResultHeader.get(_, i)).sum
    val penalised =
      if (p.nu == 0.0) 0.0 else p.l2 * p.nu / 2.0 * kappaBefore * kappaBefore
    val primal = slot(CdLayout.LOSSES) + p.penalty(before) + penalised
    assert(math.abs(slot(CdLayout.LOSSES) - p.lossAt(before, interceptBefore)) <= 1e-12 * (1.0 + primal))
    val dual = slot(CdLayout.VALUE_BEFORE) + conjugate
    p.sum(results).zipWithIndex.foreach { case (change, j) => u(j) += change }
    kappa += slot(CdLayout.KAPPA)
    rounds += 1
    DualRounds.Objectives(primal, dual, slot(CdLayout.VALUE_AFTER) + conjugate)
  }

  /** Conjugate of the penalties at the current sums. */
  private def conjugate: Double = {
    val w = coefficients
    val features = w.indices.filter(p.scale(_) > 0.0).map(j => 0.5 * p.l2 / p.scale(j) * w(j) * w(j)).sum
    features + p.l2 * kappa * (centre + p.nu * kappa / 2.0)
  }

  def recentre(): Unit = centre += p.nu * kappa

  /** The distance of the sums from those of the coordinates. */
  def drift: Double = {
    val products = p.data.indices.map(p.product(_, p.request(fit, rounds)).get)
    val exact = p.sum(products)
    val kappas = products.map(ResultHeader.get(_, CdLayout.KAPPA)).sum
    (u.zip(exact).map { case (a, b) => math.abs(a - b) } :+ math.abs(kappa - kappas)).max
  }
}

private[solver] object DualRounds {

  /** The objectives of a round: at its start, and the dual one at its end. */
  final case class Objectives(primal: Double, dual: Double, dualAfter: Double)
}
