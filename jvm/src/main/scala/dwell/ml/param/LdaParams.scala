package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators}

/**
 * The Params that Dwell adds to Spark's LDA.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | localBatch | 0 | documents of one step of a worker |
 * | warmup | 0 | documents at the start that all workers take in steps together |
 * | topicEstimate | variational | what a topic says of a word while training: `variational` or `mean` |
 */
trait LdaParams extends WorkerParams {

  /**
   * Documents of one step of a worker; 0 chooses by the number of workers: about 1000 for all of them, and 125 for each at
   * least.
   */
  final val localBatch: IntParam = new IntParam(
    this,
    "localBatch",
    "documents of one step of a worker (>= 0); 0 chooses by the number of workers",
    ParamValidators.gtEq(0))

  /**
   * Documents at the start, of all workers, in which each worker makes one step a round, which is one step on the documents of all.
   * It helps where `localBatch` is a few documents, since topics that begin at random need long steps, and costs where it is
   * not: workers that part early find better topics.
   */
  final val warmup: IntParam = new IntParam(
    this,
    "warmup",
    "documents at the start that all workers take in steps together (>= 0)",
    ParamValidators.gtEq(0))

  /**
   * What a topic says of a word while training. `variational`: exp(E[log beta]), as in Spark. `mean`: E[beta], with which a
   * topic can win back a word that it has lost; a step towards collapsed inference (Asuncion, Welling, Smyth, Teh, On Smoothing
   * and Inference for Topic Models, UAI 2009), whose topics often predict held-out words better. The model is of the same kind.
   */
  final val topicEstimate: Param[String] = ParamValues.choice(
    this,
    "topicEstimate",
    "what a topic says of a word while training",
    Seq(LdaParams.Variational, LdaParams.Mean))

  setDefault(localBatch -> 0, warmup -> 0, topicEstimate -> LdaParams.Variational)

  final def getLocalBatch: Int = $(localBatch)
  final def getWarmup: Int = $(warmup)
  final def getTopicEstimate: String = $(topicEstimate)
}

object LdaParams {
  val Variational = "variational"
  val Mean = "mean"
}
