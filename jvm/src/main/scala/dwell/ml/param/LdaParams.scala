package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators}

/**
 * The Params that Dwell adds to Spark's LDA.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | localBatch | 0 | documents in one step of a worker |
 * | topicEstimate | variational | estimate of a word's weight in a topic while training: `variational` or `mean` |
 */
trait LdaParams extends WorkerParams {

  /**
   * The number of documents in one step of a worker. 0 chooses by the number of workers: about 1000 for all workers
   * together, and at least 125 for each.
   */
  final val localBatch: IntParam = new IntParam(
    this,
    "localBatch",
    "documents of one step of a worker (>= 0); 0 chooses by the number of workers",
    ParamValidators.gtEq(0))

  /**
   * The estimate of a word's weight in a topic while training. `variational`: exp(E[log beta]), as in Spark. `mean`:
   * E[beta], with which a topic can win back a word that it has lost. This is a step towards collapsed inference
   * (Asuncion, Welling, Smyth, Teh, On Smoothing and Inference for Topic Models, UAI 2009), whose topics often predict
   * held-out words better. The model is of the same kind.
   */
  final val topicEstimate: Param[String] = ParamValues.choice(
    this,
    "topicEstimate",
    "estimate of the topics in training",
    Seq(LdaParams.Variational, LdaParams.Mean))

  setDefault(localBatch -> 0, topicEstimate -> LdaParams.Variational)

  final def getLocalBatch: Int = $(localBatch)
  final def getTopicEstimate: String = $(topicEstimate)
}

object LdaParams {
  val Variational = "variational"
  val Mean = "mean"
}
