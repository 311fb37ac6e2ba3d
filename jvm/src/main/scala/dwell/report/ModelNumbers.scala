package dwell.report

import org.apache.spark.ml.Model
import org.apache.spark.ml.classification.{LinearSVCModel, LogisticRegressionModel, MultilayerPerceptronClassificationModel}
import org.apache.spark.ml.clustering.{LDABridge, LDAModel}
import org.apache.spark.ml.linalg.{DenseMatrix, DenseVector, Matrix, SparseMatrix, SparseVector, Vector}
import org.apache.spark.ml.regression.LinearRegressionModel

/** The numbers that a stock Spark model is made of. */
private[dwell] object ModelNumbers {

  /** What a model shares with its copies, and with no other model. */
  def shared(model: Model[_]): AnyRef = model match {
    case topics: LDAModel => LDABridge.topics(topics)
    case _ => coefficients(model).map(_._2).filter(_.nonEmpty).getOrElse(model)
  }

  /** How many coefficients a linear model or a network has, and those that it stores. None for other models. */
  def coefficients(model: Model[_]): Option[(Long, Array[Double])] = model match {
    case linear: LinearRegressionModel => Some(stored(linear.coefficients))
    case logistic: LogisticRegressionModel => Some(stored(logistic.coefficientMatrix))
    case svc: LinearSVCModel => Some(stored(svc.coefficients))
    case network: MultilayerPerceptronClassificationModel => Some(stored(network.weights))
    case _ => None
  }

  private def stored(vector: Vector): (Long, Array[Double]) = vector match {
    case dense: DenseVector => (dense.size.toLong, dense.values)
    case sparse: SparseVector => (sparse.size.toLong, sparse.values)
  }

  private def stored(matrix: Matrix): (Long, Array[Double]) = {
    val values = matrix match {
      case dense: DenseMatrix => dense.values
      case sparse: SparseMatrix => sparse.values
    }
    (matrix.numRows.toLong * matrix.numCols, values)
  }
}
