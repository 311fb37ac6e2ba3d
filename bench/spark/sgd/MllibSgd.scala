package dwell.bench.sgd

import scala.collection.mutable

import org.apache.spark.mllib.linalg.{Vector => OldVector, Vectors => OldVectors}
import org.apache.spark.mllib.optimization.{GradientDescent, HingeGradient, LogisticGradient, SquaredL2Updater, Updater}

import dwell.problem.Hinge

/**
 * Spark's mini-batch SGD, `org.apache.spark.mllib.optimization.GradientDescent`: a gradient of a sample of the rows in each
 * round, and one step on the driver.
 *
 * @param fraction
 *   of the rows in a mini-batch
 * @param rounds
 *   of the fit that is measured
 */
private[bench] final class MllibSgd(problem: SgdProblem, fraction: Double, rounds: Int) extends SgdSystem {
  import MllibSgd._

  override def name: String = s"MLlib SGD, fraction $fraction"
  override def unit: String = "rounds"
  override def checkpoints: Seq[Double] = Rounds.takeWhile(_ < rounds) :+ rounds.toDouble
  override def tuning: Option[Tuning] =
    Some(Tuning(4.0 / problem.data.squareNorm, math.min(rounds, TuningRounds).toDouble, _.objective))

  override def run(step: Double, at: Seq[Double]): Seq[Checkpoint] = {
    val gradient = if (problem.loss == Hinge) new HingeGradient() else new LogisticGradient()
    val recorder = new Recorder(at)
    GradientDescent.runMiniBatchSGD(
      problem.data.points,
      gradient,
      recorder,
      step,
      at.last.toInt,
      problem.l2,
      fraction,
      OldVectors.zeros(problem.data.numFeatures),
      0.0)
    recorder.checkpoints.toSeq
  }
}

private[bench] object MllibSgd {

  /** Dense enough to see where any of them is reached. */
  private val Rounds = Seq(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0, 128.0, 192.0, 256.0, 320.0)

  /** Of each fit of the search of the step size. */
  private val TuningRounds = 20

  /** Makes the steps, which happen on the driver, and copies the models asked for; the time of copies does not count. */
  private[bench] final class Recorder(at: Seq[Double]) extends Updater {
    val checkpoints: mutable.ArrayBuffer[Checkpoint] = mutable.ArrayBuffer.empty
    private val updater = new SquaredL2Updater()
    private val start = System.nanoTime()
    private var copying = 0L

    override def compute(
        weights: OldVector,
        gradient: OldVector,
        stepSize: Double,
        iteration: Int,
        regParam: Double): (OldVector, Double) = {
      val result = updater.compute(weights, gradient, stepSize, iteration, regParam)
      // Before the first round it is called with a step of 0, for the penalty.
      if (stepSize != 0.0 && at.contains(iteration.toDouble)) {
        val now = System.nanoTime()
        checkpoints += Checkpoint(iteration.toDouble, (now - start - copying) * 1e-9, result._1.toArray.clone())
        copying += System.nanoTime() - now
      }
      result
    }
  }
}
