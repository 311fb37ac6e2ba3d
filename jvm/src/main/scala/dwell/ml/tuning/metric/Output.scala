package dwell.ml.tuning.metric

import org.apache.spark.ml.Model
import org.apache.spark.ml.classification._
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.ml.regression.RegressionModel

/** A number that a model puts out for a row, by Spark's own code. */
private[tuning] sealed trait Output extends Serializable {

  /** The number for a row of these features and this label. */
  def of(model: Model[_]): (Vector, Double) => Double
}

private[tuning] object Output {

  /** The score of the second class. */
  case object Margin extends Output {
    override def of(model: Model[_]): (Vector, Double) => Double = model match {
      case m: ClassificationModel[Vector @unchecked, _] => (features, _) => ModelOutputs.margin(m, features)
    }
  }

  case object Prediction extends Output {
    override def of(model: Model[_]): (Vector, Double) => Double = model match {
      case m: ClassificationModel[Vector @unchecked, _] => (features, _) => ModelOutputs.prediction(m, features)
      case m: RegressionModel[Vector @unchecked, _] => (features, _) => m.predict(features)
    }
  }

  /** The probability of the row's own label. */
  case object OfLabel extends Output {
    override def of(model: Model[_]): (Vector, Double) => Double = model match {
      case m: ProbabilisticClassificationModel[Vector @unchecked, _] =>
        (features, label) => ModelOutputs.probability(m, features, label)
    }
  }

  /** Whether a Param of the model gives its output this name. */
  def names(model: Model[_], param: String, name: String): Boolean =
    model.hasParam(param) && model
      .get(model.getParam(param))
      .orElse(model.getDefault(model.getParam(param)))
      .contains(name)

  /** Whether the model has two classes, one of which is ranked. */
  def isBinary(model: Model[_]): Boolean = model match {
    case m: ClassificationModel[_, _] => m.numClasses == 2
    case _ => false
  }
}
