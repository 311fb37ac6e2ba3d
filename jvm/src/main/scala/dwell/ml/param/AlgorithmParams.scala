package dwell.ml.param

import org.apache.spark.ml.param.Param

import dwell.problem.Algorithm

/**
 * The Params of estimators that offer several algorithms.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | algorithm | auto | training algorithm: see [[algorithm]] |
 * | localWork | auto | local work in a round: see [[localWork]] |
 */
trait AlgorithmParams extends WorkerParams {

  /** The algorithms that the estimator offers. */
  private[ml] def algorithms: Seq[Algorithm]

  /**
   * The training algorithm. `auto` chooses one. For networks it is `l-bfgs`. For linear models it is `newton` where features are few and it
   * is forecast to be fastest; otherwise `l-bfgs` for `LogisticRegression` with up to 12 times as many features as rows and without a penalty,
   * and CoCoA for the rest. `newton`: Newton's method. `cocoa`: CoCoA, also without a certificate. `ma-sgd`: local SGD with averages of the
   * workers' models, for very many rows, if a good model soon is worth more than a certificate later. `l-bfgs`: as Spark, with native
   * gradients. (`solver` is Spark's Param and keeps Spark's meaning. Of linear models it decides which of Spark's two definitions of the
   * objective is minimised.)
   */
  final val algorithm: Param[String] =
    ParamValues.choice(this, "algorithm", "training algorithm", ParamValues.Auto +: algorithms.map(_.name))

  /**
   * The local work H of a round: coordinate steps as a fraction of the local coordinates (1 is one epoch, 0.5 half an
   * epoch, 4 four epochs), or `auto`. With `ma-sgd`: passes over the local rows, 1 for `auto`. The other algorithms do not read it.
   */
  final val localWork: Param[String] = new Param[String](
    this,
    "localWork",
    "local work in a round, as a fraction of the local coordinates (> 0), or auto",
    (value: String) =>
      value == ParamValues.Auto || ParamValues.positive(value).nonEmpty || {
        throw new IllegalArgumentException(
          s"localWork must be 'auto' or a positive number (1 is one epoch over the local coordinates), but was '$value'.")
      })

  setDefault(algorithm -> ParamValues.Auto, localWork -> ParamValues.Auto)

  final def getAlgorithm: String = $(algorithm)
  final def getLocalWork: String = $(localWork)
}
