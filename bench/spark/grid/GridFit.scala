package dwell.bench.grid

import org.apache.spark.ml.Estimator
import org.apache.spark.ml.classification.{LinearSVC => SparkLinearSVC, LogisticRegression => SparkLogisticRegression}
import org.apache.spark.ml.regression.{LinearRegression => SparkLinearRegression}

import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression

/**
 * A fit that a user may ask for: a column of the grid. Params that it does not name have Spark's defaults.
 *
 * @param kind
 *   estimator and labels
 */
private[bench] final case class GridFit(
    name: String,
    kind: GridFit.Kind,
    regParam: Double = 0.0,
    elasticNet: Double = 0.0,
    standardization: Boolean = true,
    weighted: Boolean = false) {

  /** The Params of both estimators. */
  def params: Seq[(String, Any)] =
    Seq("labelCol" -> kind.label, "regParam" -> regParam, "standardization" -> standardization) ++
      Option.when(elasticNet > 0.0)("elasticNetParam" -> elasticNet) ++
      Option.when(weighted)("weightCol" -> GridRows.Weight)
}

private[bench] object GridFit {

  /** @param label column of the labels */
  sealed abstract class Kind(val name: String, val label: String) {
    def ours: Estimator[_]
    def theirs: Estimator[_]
  }

  case object Linear extends Kind("LinearRegression", "label") {
    override def ours: Estimator[_] = new LinearRegression()
    override def theirs: Estimator[_] = new SparkLinearRegression()
  }

  case object Logistic extends Kind("LogisticRegression", "class") {
    override def ours: Estimator[_] = new LogisticRegression()
    override def theirs: Estimator[_] = new SparkLogisticRegression()
  }

  case object TenClasses extends Kind("LogisticRegression, ten classes", GridRows.Ten) {
    override def ours: Estimator[_] = new LogisticRegression()
    override def theirs: Estimator[_] = new SparkLogisticRegression()
  }

  case object Svc extends Kind("LinearSVC", "class") {
    override def ours: Estimator[_] = new LinearSVC()
    override def theirs: Estimator[_] = new SparkLinearSVC()
  }

  private def of(kind: Kind, prefix: String, elasticNet: Boolean): Seq[GridFit] = {
    val l2 = GridFit(s"$prefix-l2", kind, regParam = 0.01)
    val l1 = Seq(l2.copy(name = s"$prefix-l1", elasticNet = 1.0), l2.copy(name = s"$prefix-net", elasticNet = 0.5))
    Seq(GridFit(s"$prefix-default", kind), l2, l2.copy(name = s"$prefix-small", regParam = 1e-5)) ++
      (if (elasticNet) l1 else Nil) ++
      Seq(l2.copy(name = s"$prefix-raw", standardization = false), l2.copy(name = s"$prefix-weights", weighted = true))
  }

  /** All columns. */
  val all: Seq[GridFit] =
    of(Linear, "linear", elasticNet = true) ++ of(Logistic, "logistic", elasticNet = true) ++
      of(TenClasses, "ten", elasticNet = true) ++ of(Svc, "svc", elasticNet = false)
}
