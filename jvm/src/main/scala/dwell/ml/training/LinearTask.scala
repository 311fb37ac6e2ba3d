package dwell.ml.training

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.TrainingRows
import dwell.problem.{Loss, Penalty, Softmax}
import dwell.solver.linear.{LinearSolution, ModelBounds}

/** One call of `train`: the part of the training that differs between linear estimators. */
private[ml] trait LinearTask[M] {

  /** The loss of a row, as a function of its label and its margin. */
  def loss: Loss

  /** The penalty of the Params, before the data is known. */
  def penalty: Penalty

  /** The name of the divisor of the L2 part of `regParam`, if the divisor depends on the data. */
  def l2Divisor: Option[String] = None

  /**
   * The training data, cast and checked by Spark's own rules.
   *
   * @param fold
   *   the column that names the fold of each row, if there is one
   */
  def rows(fold: Option[String] = None): RDD[InternalRow]

  /** Whether coefficients or intercepts have bounds. */
  def isBounded: Boolean = false

  /** What Spark's own code refuses, in its own words, judged by Params and schema. Its iterations need a feature. */
  def refused(numFeatures: Int): Option[String] = if (numFeatures == 0) Some("the vectors have length 0") else None

  /** What Spark's own code refuses, in its own words, judged by the data. */
  def refused(data: TrainingRows): Option[String]

  /** The coefficients and intercepts of data whose labels are all the same, if no training is needed to know them. */
  def known(data: TrainingRows): Option[(Array[Double], Array[Double])]

  /** The penalty that Spark would use on this data: with its scales of features, and in units of its labels. */
  def penaltyOn(data: TrainingRows): Penalty

  /** The number of classes if the softmax over them replaces `loss`. */
  def classes(data: TrainingRows): Option[Int] = None

  /** The loss of all outputs on this data. */
  final def lossOn(data: TrainingRows): Loss = classes(data).fold(loss)(Softmax)

  /** The user's bounds of coefficients and intercepts. */
  def bounds(data: TrainingRows): Option[ModelBounds] = None

  /** The user's coefficients and intercepts to start from, laid out as in [[dwell.solver.linear.LinearSolution]]. */
  def initial(data: TrainingRows): Option[(Array[Double], Array[Double])] = None

  /** Spark's model of a solution, with Params and training summary. */
  def model(data: TrainingRows, solution: LinearSolution): M

  /** Trains with Spark's own code. */
  def trainBySpark(): M

  /** The feature that Spark's own code lacks, if it cannot take over. */
  def missingInSpark: Option[String] = None
}
