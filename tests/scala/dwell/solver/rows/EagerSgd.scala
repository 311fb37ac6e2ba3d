package dwell.solver.rows

import dwell.base.BucketOrder
import dwell.data.{RowData, TestData}
import dwell.problem.{MarginLoss, Softmax, StepSchedule}
import dwell.solver.rows.worker.RowObjective

/**
 * The plain definition of what [[dwell.solver.rows.worker.NativeSgd]] computes: every step changes every
 * coefficient, and data are dense. It shares nothing with the native code: the order of
 * rows and the losses of one margin are those of Scala.
 */
private[rows] final class EagerSgd(data: RowData, problem: RowObjective) {
  import EagerSgd._

  val features: Int = data.features
  val outputs: Int = problem.loss.outputs

  private val stored = data.blocks.flatMap(b => b.labels.indices.map(TestData.stored(b, features, _)))
  private val weights = data.blocks.flatMap(b => if (b.weights == null) b.labels.map(_ => 1.0) else b.weights)

  val labels: Array[Double] = data.blocks.flatMap(_.labels).map(y => if (data.isClassified) 2.0 * y - 1.0 else y)

  val x: Array[Array[Double]] = stored.map { entries =>
    val row = new Array[Double](features)
    entries.foreach { case (feature, value) => row(feature) = value }
    row
  }

  def weight(i: Int): Double = weights(i)
  def scale(j: Int): Double = if (data.scale == null) 1.0 else data.scale(j)

  /** Relative penalty of a feature, 0 if its scale is 0. */
  private def u(j: Int): Double = if (scale(j) == 0.0) 0.0 else 1.0 / math.sqrt(scale(j))

  def prediction(model: Array[Double], i: Int, c: Int): Double =
    (0 until features).map(j => x(i)(j) * model(j * outputs + c)).sum + model(features * outputs + c)

  def predictions(model: Array[Double], i: Int): Array[Double] = Array.tabulate(outputs)(prediction(model, i, _))

  def loss(z: Array[Double], y: Double): Double = problem.loss match {
    case loss: MarginLoss => loss.value(z(0), y)
    case Softmax(_) => z.max + math.log(z.map(v => math.exp(v - z.max)).sum) - z(y.toInt)
  }

  def derivatives(z: Array[Double], y: Double): Array[Double] = problem.loss match {
    case loss: MarginLoss => Array(loss.derivative(z(0), y))
    case Softmax(classes) => Array.tabulate(classes)(c => probability(z, c) - (if (c == y.toInt) 1.0 else 0.0))
  }

  def probability(z: Array[Double], c: Int): Double = math.exp(z(c) - z.max) / z.map(v => math.exp(v - z.max)).sum

  /** sum_i s_i l over all rows. */
  def lossSum(model: Array[Double], rows: Seq[Int] = x.indices): Double =
    rows.map(i => weight(i) * loss(predictions(model, i), labels(i))).sum

  def l1Norm(model: Array[Double]): Double =
    (0 until features * outputs).map(k => u(k / outputs) * math.abs(model(k))).sum

  def squareNorm(model: Array[Double]): Double =
    (0 until features * outputs).map(k => math.pow(u(k / outputs) * model(k), 2)).sum

  def penalty(model: Array[Double]): Double =
    problem.penalty.l1 * l1Norm(model) + problem.penalty.l2 / 2.0 * squareNorm(model)

  /** sum_i s_i v_ic x_ij for every feature and output, then sum_i s_i v_ic. */
  def product(v: (Int, Int) => Double): Array[Double] = Array.tabulate((features + 1) * outputs) { k =>
    val (j, c) = (k / outputs, k % outputs)
    x.indices.map(i => weight(i) * v(i, c) * (if (j == features) 1.0 else x(i)(j))).sum
  }

  /** Numbers of the rows visited from `cursor` on, and the cursor after them. */
  def visited(seed: Long, budget: Long, cursor: Long): (Seq[Int], Long) =
    if (labels.length == 0) (Nil, cursor)
    else {
      val order = new BucketOrder(labels.length, seed, data.index)
      var rows = Vector.empty[Int]
      var at = cursor
      while (rows.size < budget) {
        val start = order.start(at)
        rows ++= start until order.end(start)
        at += 1
      }
      (rows, at)
    }

  /** Steps on these rows, the first of them at time `steps`. */
  def descend(start: Array[Double], rows: Seq[Int], schedule: StepSchedule, steps: Long): Descent = {
    val model = start.clone()
    var losses = 0.0
    rows.zipWithIndex.foreach { case (i, k) =>
      val eta = schedule.kind match {
        case StepSchedule.InverseSqrt => schedule.eta0 / math.sqrt(1.0 + schedule.rate * (steps + k))
        case StepSchedule.Inverse => schedule.eta0 / (1.0 + schedule.rate * schedule.eta0 * (steps + k))
      }
      val z = predictions(model, i)
      losses += weight(i) * loss(z, labels(i))
      val g = derivatives(z, labels(i)).map(weight(i) * problem.weightFactor * _)
      for (c <- 0 until outputs) {
        for (j <- 0 until features) {
          val at = j * outputs + c
          val moved = (1.0 - eta * problem.penalty.l2) * model(at) - eta * g(c) * scale(j) * x(i)(j)
          model(at) =
            math.signum(moved) * math.max(0.0, math.abs(moved) - eta * problem.penalty.l1 * math.sqrt(scale(j)))
        }
        if (problem.intercept) model(features * outputs + c) -= eta * g(c)
      }
    }
    Descent(model, losses, rows.map(weight).sum, rows.map(stored(_).size).sum)
  }
}

private[rows] object EagerSgd {

  /** The result of steps. */
  final case class Descent(model: Array[Double], lossSum: Double, weightSum: Double, nonzeros: Int)
}
