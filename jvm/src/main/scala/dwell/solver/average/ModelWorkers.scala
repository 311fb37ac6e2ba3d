package dwell.solver.average

import java.io.Serializable

import dwell.comm.{Recovered, Replicas}
import dwell.fit.ResultHeaders
import dwell.jni.SgdLayout

/**
 * The workers of a fit, for its leader, as holders of models.
 *
 * @param uid
 *   uid of the estimator, which Spark's UI shows
 */
private[solver] class ModelWorkers[M, S](protected val workers: Replicas[M, S], uid: String) {

  /** Makes `model` the model `version` of every worker. */
  final def distribute(version: Long, model: Array[Byte], note: Option[Serializable]): Unit =
    workers.distribute(version, model, note, described("model to the workers"))

  /** Fetches model `version` from the workers. */
  final def collected(version: Long): Array[Byte] = workers.collect(version, described("model from the workers"))

  /** The newest model that the workers still hold, and its note. */
  final def recover(): Option[Recovered] = workers.recover(described("what the workers still hold"))

  /** Lets every worker descend from model `from`. The sum of their updates becomes model `to` of all workers. */
  final def average(message: M, from: Long, to: Long, kept: Set[Long], note: Serializable, what: String): Averaged = {
    val replies = workers.allReduce(message, from, to, kept, Some(note), described(what))
    Averaged(new ResultHeaders(replies.headers), replies.addSeconds)
  }

  /** For each candidate, the mean objective after local descent from model `from`, weighted over the partitions. */
  final def search(message: M, candidates: Int, from: Long): Array[Double] = {
    val replies = workers.ask(message, from, described("step search"))
    val headers = new ResultHeaders(replies.headers)
    val weights = headers.slot(SgdLayout.WEIGHT_SUM)
    (0 until candidates).map { i =>
      val objectives = headers.slot(SgdLayout.OBJECTIVES + i)
      weights.indices.filter(weights(_) > 0.0).map(k => weights(k) * objectives(k)).sum / weights.sum
    }.toArray
  }

  protected final def described(what: String): String = s"dwell $uid: $what"
}

/** The workers' reports of a round of local descent. */
private[solver] final case class Averaged(headers: ResultHeaders, addSeconds: Double)
