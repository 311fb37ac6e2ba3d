package dwell.bench.sgd

import org.apache.spark.mllib.linalg.{SparseVector, Vector => OldVector}
import org.apache.spark.rdd.RDD

import dwell.bench.Bench
import dwell.problem.MarginLoss

/**
 * Model averaging and nothing else on top of Spark's mini-batch SGD: each partition makes a pass of SGD over its rows, in their
 * order, and the models are averaged by treeAggregate; the mean goes out in a broadcast.
 */
private[bench] final class MllibAveraging(problem: SgdProblem) extends SgdSystem {
  import MllibAveraging._

  override def name: String = "MLlib + model averaging"
  override def unit: String = "rounds"
  override def checkpoints: Seq[Double] = Rounds
  override def tuning: Option[Tuning] =
    Some(Tuning(0.25 / problem.data.squareNorm, TuningRounds, _.objective, 1.0 / problem.l2))

  override def run(step: Double, at: Seq[Double]): Seq[Checkpoint] = {
    val (points, loss, l2) = (problem.data.points, problem.loss, problem.l2)
    var model = new Array[Double](problem.data.numFeatures)
    var seconds = 0.0
    (1 to at.last.toInt).flatMap { round =>
      // As GradientDescent does from round to round.
      val eta = step / math.sqrt(round.toDouble)
      val averaged = Bench.timed {
        val shared = points.context.broadcast(model)
        try average(points.mapPartitions(rows => Iterator(pass(rows, shared.value, loss, l2, eta))))
        finally shared.destroy()
      }
      model = averaged.result
      seconds += averaged.seconds
      Option.when(at.contains(round.toDouble))(Checkpoint(round.toDouble, seconds, model))
    }
  }
}

private[bench] object MllibAveraging {
  private val Rounds = Seq(1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
  private val TuningRounds = 2.0

  /** The scale of the weights below which they are multiplied out. */
  private val LeastScale = 1e-5

  /** A sum of models, each times its number of rows, and the number of rows. */
  private type Weighted = (Array[Double], Long)

  private def average(models: RDD[Weighted]): Array[Double] = {
    val (sum, rows) = models.treeAggregate((Array.empty[Double], 0L))(add, add)
    sum.map(_ / rows)
  }

  private def add(one: Weighted, other: Weighted): Weighted =
    if (one._2 == 0L) other
    else {
      val (sum, more) = (one._1, other._1)
      if (more.nonEmpty) sum.indices.foreach(i => sum(i) += more(i))
      (sum, one._2 + other._2)
    }

  /** SGD from `model`, with the weights kept as a scale times a vector, so that the penalty costs nothing (Bottou). */
  private def pass(
      rows: Iterator[(Double, OldVector)],
      model: Array[Double],
      loss: MarginLoss,
      l2: Double,
      eta: Double): Weighted = {
    val w = model.clone()
    var scale = 1.0
    var count = 0L
    rows.foreach { case (label, x) =>
      val z = scale * SgdProblem.dot(x, w)
      val g = loss.derivative(z, SgdProblem.signed(label))
      scale *= 1.0 - eta * l2
      if (scale < LeastScale) {
        w.indices.foreach(i => w(i) *= scale)
        scale = 1.0
      }
      if (g != 0.0) scatter(x, -eta * g / scale, w)
      count += 1
    }
    (w.map(_ * scale * count), count)
  }

  private def scatter(x: OldVector, step: Double, w: Array[Double]): Unit = {
    val sparse = x.asInstanceOf[SparseVector]
    val (ids, values) = (sparse.indices, sparse.values)
    var k = 0
    while (k < ids.length) {
      w(ids(k)) += step * values(k)
      k += 1
    }
  }
}
