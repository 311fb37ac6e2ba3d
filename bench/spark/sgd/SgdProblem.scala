package dwell.bench.sgd

import org.apache.spark.mllib.linalg.{SparseVector, Vector => OldVector}
import org.apache.spark.rdd.RDD

import dwell.problem.{Hinge, Logistic, MarginLoss}

/**
 * A model on the way of a fit.
 *
 * @param steps
 *   what the system counts: see [[SgdSystem.unit]]
 * @param seconds
 *   from the start of the fit, without the evaluation of models
 * @param learning
 *   seconds of them after the rows have been brought into the system's own form
 * @param model
 *   a weight for each feature
 */
private[bench] final case class Checkpoint(steps: Double, seconds: Double, learning: Double, model: Array[Double])

private[bench] object Checkpoint {

  /** Of a system whose rows are in its own form from the start. */
  def apply(steps: Double, seconds: Double, model: Array[Double]): Checkpoint =
    Checkpoint(steps, seconds, learning = seconds, model)
}

/**
 * @param objective
 *   of the training data
 * @param heldOutLoss
 *   mean loss of the rows held out, without penalty
 * @param heldOutError
 *   share of them on the wrong side
 */
private[bench] final case class Evaluation(objective: Double, heldOutLoss: Double, heldOutError: Double)

/**
 * What all systems minimise, without intercept and without standardisation, and the only evaluator of their models:
 *
 * {{{ F(w) = 1/m sum_i l(x_i^T w; y_i) + l2/2 |w|^2 }}}
 */
private[bench] final class SgdProblem(val data: SgdData, val loss: MarginLoss, val l2: Double) {

  def name: String = s"${data.shape.name}-$loss-l2-$l2"

  /** For the file of results. */
  def results: Seq[(String, Any)] = Seq(
    "data" -> s"shaped like ${data.shape.name}",
    "rows" -> data.numRows,
    "features" -> data.numFeatures,
    "nonzeros" -> data.nonzeros,
    "workers" -> data.workers,
    "loss" -> loss.toString,
    "l2" -> l2)

  def evaluate(model: Array[Double]): Evaluation = {
    val (train, _) = SgdProblem.meanLoss(data.points, loss, model)
    val (heldOut, error) = SgdProblem.meanLoss(data.heldOut, loss, model)
    Evaluation(train + l2 / 2.0 * model.map(w => w * w).sum, heldOut, error)
  }
}

private[bench] object SgdProblem {
  def losses: Seq[MarginLoss] = Seq(Logistic, Hinge)

  /** The mean loss and the share of rows on the wrong side. */
  private def meanLoss(points: RDD[(Double, OldVector)], loss: MarginLoss, model: Array[Double]): (Double, Double) = {
    val shared = points.context.broadcast(model)
    try {
      val sums = points.mapPartitions { rows =>
        val w = shared.value
        var (sum, wrong, count) = (0.0, 0L, 0L)
        rows.foreach { case (label, x) =>
          val y = signed(label)
          val z = dot(x, w)
          sum += loss.value(z, y)
          if (!(y * z > 0.0)) wrong += 1
          count += 1
        }
        Iterator((sum, wrong, count))
      }
      val parts = sums.collect()
      val rows = parts.map(_._3).sum.toDouble
      (parts.map(_._1).sum / rows, parts.map(_._2).sum / rows)
    } finally shared.destroy()
  }

  /** -1 or 1 for a label of 0 or 1. */
  def signed(label: Double): Double = 2.0 * label - 1.0

  def dot(x: OldVector, w: Array[Double]): Double = {
    val sparse = x.asInstanceOf[SparseVector]
    val (ids, values) = (sparse.indices, sparse.values)
    var sum = 0.0
    var k = 0
    while (k < ids.length) {
      sum += values(k) * w(ids(k))
      k += 1
    }
    sum
  }
}
