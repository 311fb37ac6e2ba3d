package dwell.solver

import dwell.data.{ColumnPartition, LabeledRow, TestData}
import dwell.jni.Cancellation

/**
 * Least squares with an elastic net on random data, and the driver's half of a round without Spark: the sum of the
 * partitions' updates, the residual, the objective.
 */
private[solver] final class LocalProblem(
    val rows: Seq[LabeledRow],
    val numPartitions: Int,
    val l1: Double,
    val l2: Double,
    val centred: Boolean = true,
    val scaleFactor: Double = 1.0) {
  val kept: Seq[LabeledRow] = rows.filter(_.weight > 0.0)
  val partitions: Array[ColumnPartition] =
    TestData.partitions(rows.grouped(math.max(1, rows.size / 3)).toSeq, numPartitions)
  val weights: Array[Double] = TestData.weights(rows)
  val rowWeights: Array[Double] = kept.map(_.weight).toArray
  val totalWeight: Double = rowWeights.sum
  val labels: Array[Double] = {
    val raw = kept.map(_.label).toArray
    val mean = if (centred) raw.zip(rowWeights).map { case (y, s) => s * y }.sum / totalWeight else 0.0
    raw.map(_ - mean)
  }

  def request(
      fit: Long,
      round: Long,
      budget: Double = 1.0,
      certificate: Boolean = false,
      seed: Long = 42L,
      stamps: Array[Long] = new Array[Long](numPartitions),
      theta1: Double = 1.0,
      theta2: Double = 0.0): RoundRequest =
    RoundRequest(
      fit,
      round,
      seed,
      budget,
      certificate,
      centred,
      threads = 1,
      stamps,
      sigmaPrime = numPartitions.toDouble,
      l1,
      l2,
      totalWeight,
      scaleFactor,
      theta1,
      theta2)

  def pack(vector: Array[Double]): Array[Byte] = {
    val bytes = new Array[Byte](8 * vector.length)
    ResultLayout.doubles(bytes).put(vector)
    bytes
  }

  def vector(result: Array[Byte]): Array[Double] = {
    val values = new Array[Double](kept.size)
    ResultLayout.vector(result).get(values)
    values
  }

  /** One partition's result of a round; None where the state is lost. */
  def round(
      solver: LocalSolver,
      k: Int,
      r: RoundRequest,
      residual: Array[Double],
      cancellation: Cancellation = Cancellation.NEVER): Option[Array[Byte]] = {
    val result = ResultLayout.allocate(kept.size)
    if (solver.round(partitions(k), weights, r, pack(residual), result, cancellation)) Some(result) else None
  }

  def product(solver: LocalSolver, k: Int, r: RoundRequest): Option[Array[Byte]] = {
    val result = ResultLayout.allocate(kept.size)
    if (solver.product(partitions(k), weights, r, result, Cancellation.NEVER)) Some(result) else None
  }

  /** Residual after the partitions' updates, added in order. */
  def residualAfter(residual: Array[Double], results: Seq[Array[Byte]]): Array[Double] = {
    val sum = new Array[Double](residual.length)
    results.foreach(result => vector(result).zipWithIndex.foreach { case (u, j) => sum(j) += u })
    residual.zip(sum).map { case (r, u) => r - u }
  }

  def loss(residual: Array[Double]): Double =
    residual.zip(rowWeights).map { case (r, s) => s * r * r }.sum / (2.0 * totalWeight)

  /** Runs rounds and gives every result, by round and partition. */
  def run(
      solver: LocalSolver,
      fit: Long,
      rounds: Int,
      budget: Double = 1.0,
      certificate: Boolean = false): Seq[Seq[Array[Byte]]] = {
    var residual = labels
    (0 until rounds).map { t =>
      val results = partitions.indices.map(k => round(solver, k, request(fit, t, budget, certificate), residual).get)
      residual = residualAfter(residual, results)
      results
    }
  }

  /** Coefficients by feature, after the step that is pending. */
  def coefficients(solver: LocalSolver, fit: Long): Map[Int, Double] =
    partitions.flatMap { p =>
      val state = solver.exportState(fit, p.index).get.commit(1.0, 0.0)
      p.columns.zip(state.alpha)
    }.toMap
}
