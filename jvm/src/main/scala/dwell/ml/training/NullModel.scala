package dwell.ml.training

import dwell.data.TrainingRows
import dwell.problem.{Logistic, Loss, Softmax, Squared}

/** The best model without coefficients, whose deviance is what coefficients can explain. */
private[training] object NullModel {

  /** The least share of the deviance that a model of this objective explains: its penalty counts as unexplained. NaN without a deviance. */
  def explained(objective: Double, loss: Loss, intercept: Boolean, data: TrainingRows): Double = {
    val none = NullModel.objective(loss, intercept, data)
    if (none > 0.0) 1.0 - objective / none else Double.NaN
  }

  /** Half the mean of the squared errors, or the mean of minus the logarithms of the likelihood. */
  private def objective(loss: Loss, intercept: Boolean, data: TrainingRows): Double = loss match {
    case Squared => 0.5 * (data.labelVariance + (if (intercept) 0.0 else data.labelMean * data.labelMean))
    case Logistic => if (intercept) entropy(Seq(data.labelMean, 1.0 - data.labelMean)) else math.log(2.0)
    case Softmax(classes) =>
      if (!intercept) math.log(classes.toDouble)
      else entropy(data.classWeights(classes).toSeq.map(_ / data.totalWeight))
    case _ => Double.NaN
  }

  private def entropy(shares: Seq[Double]): Double = shares.filter(_ > 0.0).map(share => -share * math.log(share)).sum
}
