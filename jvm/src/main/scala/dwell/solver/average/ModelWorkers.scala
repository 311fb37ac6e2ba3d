package dwell.solver.average

import java.io.Serializable

import dwell.comm.{Recovered, Replicas}

/**
 * The workers of a fit, for its leader, as holders of models.
 *
 * @param uid
 *   uid of the estimator, which Spark's UI shows
 */
private[solver] abstract class ModelWorkers[M, S](protected val workers: Replicas[M, S], uid: String) {

  /** Makes `model` the model `version` of every worker. */
  final def distribute(version: Long, model: Array[Byte], note: Option[Serializable]): Unit =
    workers.distribute(version, model, note, described("model to the workers"))

  /** Fetches model `version` from the workers. */
  final def collected(version: Long): Array[Byte] = workers.collect(version, described("model from the workers"))

  /** The newest model that the workers still hold, and its note. */
  final def recover(): Option[Recovered] = workers.recover(described("what the workers still hold"))

  protected final def described(what: String): String = s"dwell $uid: $what"
}
