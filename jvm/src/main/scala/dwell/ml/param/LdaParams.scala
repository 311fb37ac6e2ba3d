package dwell.ml.param

import org.apache.spark.ml.param.{IntParam, Param, ParamValidators}

/**
 * The Params that Dwell adds to Spark's LDA.
 *
 * | Param | default | meaning |
 * |:--|:--|:--|
 * | localBatch | 0 | documents in one step of a worker |
 * | warmup | 0 | documents at the start that all workers take in steps together |
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
   * The number of documents of all workers at the start, during which each worker makes one step in a round. Such a
   * round is one step on the documents of all workers. It helps if `localBatch` is a few documents, because topics that
   * begin at random need long steps. It costs if `localBatch` is large, because workers that part early find better
   * topics.
   */
  final val warmup: IntParam = new IntParam(
    this,
    "warmup",
    "documents at the start that all workers take in steps together (>= 0)",
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

  setDefault(localBatch -> 0, warmup -> 0, topicEstimate -> LdaParams.Variational)

  final def getLocalBatch: Int = $(localBatch)
  final def getWarmup: Int = $(warmup)
  final def getTopicEstimate: String = $(topicEstimate)
}

object LdaParams {
  val Variational = "variational"
  val Mean = "mean"
}
