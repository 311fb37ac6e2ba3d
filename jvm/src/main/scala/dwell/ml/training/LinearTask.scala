package dwell.ml.training

import org.apache.spark.rdd.RDD

import dwell.data.TrainingRows
import dwell.data.block.LabeledRow
import dwell.solver.problem.{LinearSolution, MarginLoss}

/**
 * The penalty of a problem, before scaling by the features' deviations.
 *
 * @param l1
 *   weight of |a|_1
 * @param l2
 *   weight of |a|_2^2 / 2
 * @param scaleFactor
 *   0: the penalty applies to the coefficients as they are. Otherwise it applies to coefficient times deviation, and this
 *   is the factor from the population's variance to the variance that is meant
 */
private[ml] final case class Penalty(l1: Double, l2: Double, scaleFactor: Double)

/** One call of `train`: what an estimator adds to the training that all linear estimators share. */
private[ml] trait LinearTask[M] {

  def loss: MarginLoss

  /** Share of the L1 penalty in `regParam`. */
  def elasticNet: Double

  /** What the L2 part of `regParam` is divided by, where only the data shows it. */
  def l2Divisor: Option[String] = None

  /** The training data, cast and checked by Spark's own rules. */
  def rows: RDD[LabeledRow]

  /** Why this is not solved natively, as far as Params and schema tell. */
  def unsupported(numFeatures: Int): Option[String]

  /** Why this is not solved natively, as far as only the data shows. */
  def unsuitable(data: TrainingRows): Option[String]

  /** The penalty that Spark would have used. */
  def penalty(data: TrainingRows): Penalty

  /** Number of classes where the loss is their softmax, in place of `loss`. */
  def classes(data: TrainingRows): Option[Int] = None

  /** Coefficients and intercepts to start from, where the user has given some: see [[dwell.solver.problem.LinearSolution]]. */
  def initial(data: TrainingRows): Option[(Array[Double], Array[Double])] = None

  /** Spark's model, with Params and training summary. */
  def model(data: TrainingRows, solution: LinearSolution): M

  /** The model that Spark's own code trains. */
  def trainBySpark(): M

  /** What Spark's own code does not have and so cannot take over. */
  def missingInSpark: Option[String] = None
}
