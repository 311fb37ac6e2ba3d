package dwell.solver.rows

import scala.util.Random

import dwell.base.LittleEndian
import dwell.data.{RowData, TestData}
import dwell.data.rows.{BlockData, RowPartition}
import dwell.data.TestData.Values
import dwell.jni.{Cancellation, ResultHeader, SgdLayout}
import dwell.problem.{MarginLoss, Penalty, RowLoss, Softmax, Squared, StepSchedule}
import dwell.solver.cd.{LocalProblem, RowProblem}
import dwell.solver.pass.{PassMessage, PassStep, PassSums}
import dwell.solver.rows.worker.{Descend, NativeSgd, RowObjective, Search}

/** Random data of one partition with a problem and a model, and calls for them. */
private[rows] final class SgdCase(
    seed: Int,
    loss: RowLoss,
    rows: Int = 60,
    val features: Int = 20,
    density: Double = 0.2,
    values: Values = Values.Doubles,
    l1: Double = 0.01,
    l2: Double = 0.1,
    weighted: Boolean = true,
    scaled: Boolean = true,
    intercept: Boolean = true,
    dense: Boolean = false) {

  /** Native code remembers its checks by fit. */
  val fit: Long = LocalProblem.nextFit()

  val data: RowData = {
    val source = TestData.random(seed, rows, features, density, values, weighted)
    val margin = loss match {
      case margin: MarginLoss => margin
      case Softmax(_) => Squared
    }
    val scaleFactor = if (scaled) 1.0 else 0.0
    val made = new RowProblem(source, 1, margin, 1.0, scaleFactor = scaleFactor, dense = dense).data.head
    loss match {
      case _: MarginLoss => made
      case Softmax(classes) =>
        val p = made.partition
        made.copy(partition =
          SgdCase.withLabels(p, p.labels.map(y => math.floorMod((8.0 * y).toInt, classes).toDouble)))
    }
  }

  val problem: RowObjective = {
    val p = data.partition
    val factor = if (p.weights == null) 1.0 else p.numRows / p.weights.sum
    RowObjective(loss, Penalty(l1, l2), intercept, factor)
  }

  val eager = new EagerSgd(data, problem)

  val outputs: Int = loss.outputs

  /** A random model; entries that must stay 0 are 0. */
  val model: Array[Double] = {
    val random = new Random(seed)
    Array.tabulate(outputs * (features + 1)) { k =>
      val value = random.nextGaussian() * 0.3
      val j = k / outputs
      if (if (j == features) !intercept else eager.scale(j) == 0.0) 0.0 else value
    }
  }

  val descent: Descend = Descend(
    fit,
    seed = 42L,
    problem,
    StepSchedule(StepSchedule.InverseSqrt, 0.05, 0.0),
    budget = rows.toLong,
    cursor = 0L,
    steps = 0L,
    share = 1.0)

  val searching: Search =
    Search(fit, 42L, problem, descent.schedule, Array(0.01, 0.1), budget = 10L, cursor = 0L, steps = 0L)

  def newResult: Array[Byte] = SgdLayout.allocate(features, outputs)

  def descend(r: Descend = descent, shared: Array[Byte] = SgdCase.pack(model)): Array[Byte] = {
    val result = newResult
    NativeSgd.descend(data, r, shared, result, Cancellation.NEVER)
    result
  }

  def search(r: Search = searching, shared: Array[Byte] = SgdCase.pack(model)): Array[Byte] = {
    val result = new Array[Byte](ResultHeader.BYTES)
    NativeSgd.search(data, r, shared, result, Cancellation.NEVER)
    result
  }

  /** A pass over the partition as one block, with the vector in the layout of a model. */
  def evaluate(dual: Double*): (Array[Byte], Array[Double]) = {
    val message = PassMessage(
      loss,
      intercept = true,
      features,
      centre = Array.emptyDoubleArray,
      (features + 1) * outputs,
      PassSums.Gradient,
      threads = 1,
      dual = dual.toArray)
    // There the numbers of an output stand together.
    val n = features + 1
    val shared = Array.tabulate(n * outputs)(i => model(i % n * outputs + i / n))
    val result =
      PassStep.sums(BlockData.of(data.partition, entries = 20), message, SgdCase.pack(shared), Cancellation.NEVER)
    val sums = SgdCase.vector(result)
    (result, Array.tabulate(n * outputs)(i => sums(i % outputs * n + i / outputs)))
  }

  override def toString: String =
    s"$loss, l1=$l1, l2=$l2, weighted=$weighted, scaled=$scaled, intercept=$intercept, dense=$dense, seed=$seed"
}

private[rows] object SgdCase {

  /** The same rows with other labels. */
  def withLabels(p: RowPartition, labels: Array[Double]): RowPartition = new RowPartition(
    p.index,
    p.features,
    p.rows,
    p.offsets,
    p.indices,
    p.values32,
    p.values64,
    labels,
    p.weights,
    p.norms,
    p.projections)

  /** Dense rows of weight 1. */
  def dense(x: Seq[Seq[Double]], y: Seq[Double], index: Int = 0, features: Int = 0): RowData = {
    val entries = x.map(_.zipWithIndex.filter(_._1 != 0.0))
    val p = new RowPartition(
      index,
      math.max(features, x.headOption.fold(0)(_.size)),
      x.indices.map(_.toLong).toArray,
      entries.map(_.size).scanLeft(0)(_ + _).toArray,
      entries.flatten.map(_._2).toArray,
      null,
      entries.flatten.map(_._1).toArray,
      y.toArray,
      null,
      x.map(_.map(v => v * v).sum).toArray,
      null)
    RowData(p, null)
  }

  def pack(model: Array[Double]): Array[Byte] = LittleEndian.bytes(model)

  def vector(result: Array[Byte]): Array[Double] = {
    val values = new Array[Double]((result.length - ResultHeader.BYTES) / 8)
    ResultHeader.vector(result).get(values)
    values
  }
}
