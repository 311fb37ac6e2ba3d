package dwell.ml

import org.apache.spark.ml.param.{Param, Params}

/** Sets Params by their names, for what estimators of several classes have in common. */
object SetParams {
  def apply[E <: Params](estimator: E)(values: (String, Any)*): E = {
    for ((name, value) <- values) estimator.set(estimator.getParam(name).asInstanceOf[Param[Any]], value)
    estimator
  }
}
