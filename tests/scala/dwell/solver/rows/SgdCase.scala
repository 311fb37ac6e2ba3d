package dwell.solver.rows

import scala.util.Random

import dwell.base.LittleEndian
import dwell.data.{RowData, TestData}
import dwell.data.rows.BlockArrays
import dwell.data.TestData.Values
import dwell.jni.{Cancellation, ResultHeader, SgdLayout}
import dwell.problem.{MarginLoss, Penalty, RowLoss, Softmax, Squared, StepSchedule}
import dwell.solver.cd.RowProblem
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
        SgdCase.withLabels(made, y => math.floorMod((8.0 * y).toInt, classes).toDouble)
    }
  }

  val problem: RowObjective = {
    val factor = if (weighted) data.coordinates / data.blocks.flatMap(_.weights).sum else 1.0
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
    seed = 42L,
    problem,
    StepSchedule(StepSchedule.InverseSqrt, 0.05, 0.0),
    budget = rows.toLong,
    cursor = 0L,
    steps = 0L,
    share = 1.0)

  val searching: Search =
    Search(42L, problem, descent.schedule, Array(0.01, 0.1), budget = 10L, cursor = 0L, steps = 0L)

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

  /** A pass over the rows, with the vector in the layout of a model. */
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
    val result = PassStep.sums(data.forSums, message, SgdCase.pack(shared), Cancellation.NEVER)
    val sums = SgdCase.vector(result)
    (result, Array.tabulate(n * outputs)(i => sums(i % outputs * n + i / outputs)))
  }

  override def toString: String =
    s"$loss, l1=$l1, l2=$l2, weighted=$weighted, scaled=$scaled, intercept=$intercept, dense=$dense, seed=$seed"
}

private[rows] object SgdCase {

  /** The same rows with other labels. */
  def withLabels(data: RowData, label: Double => Double): RowData =
    data.copy(blocks = data.blocks.map(block => block.copy(labels = block.labels.map(label))))

  /** Rows of weight 1, stored without their zeros. */
  def dense(x: Seq[Seq[Double]], y: Seq[Double], index: Int = 0, features: Int = 0): RowData = {
    val entries = x.map(_.zipWithIndex.filter(_._1 != 0.0))
    val block = BlockArrays(
      entries.map(_.size).scanLeft(0)(_ + _).toArray,
      entries.flatten.map(_._2).toArray,
      null,
      entries.flatten.map(_._1).toArray,
      y.toArray,
      null)
    RowData(index, math.max(features, x.headOption.fold(0)(_.size)), Array(block), null, null, isClassified = false)
  }

  def pack(model: Array[Double]): Array[Byte] = LittleEndian.bytes(model)

  def vector(result: Array[Byte]): Array[Double] = {
    val values = new Array[Double]((result.length - ResultHeader.BYTES) / 8)
    ResultHeader.vector(result).get(values)
    values
  }
}
