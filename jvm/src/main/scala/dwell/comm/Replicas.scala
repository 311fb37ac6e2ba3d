package dwell.comm

/** A model that workers still held, with the note of the call that made it. */
final case class Recovered(version: Long, note: Any, model: Array[Byte])

/** A model, or a part of it, is not with the workers any more, nor anything that it could be made of. */
final class ModelLostException(message: String) extends Exception(message)

/**
 * Workers that all hold the same models, as replicas that are equal to the bit. A model is a vector, little endian, with as
 * many entries as the vectors of the workers' contributions, and has a version.
 *
 * Versions rise: each is higher than those that were made before it by the same leader.
 *
 * A note says what whoever leads next has to know in order to go on from a model, and is short. A model without one is
 * not found by [[recover]].
 */
trait Replicas[M, S] extends Workers[M, S] {

  /**
   * Gives every worker a model, which the caller may change afterwards.
   *
   * @throws IllegalArgumentException
   *   if the version is not higher than those before it
   */
  def distribute(version: Long, model: Array[Byte], note: Option[Serializable], description: String): Unit

  /**
   * Lets every worker make the same model itself, without a note: as it can be made again, nobody looks for it.
   *
   * @throws IllegalArgumentException
   *   if the version is not higher than those before it
   */
  def begin(version: Long, origin: GeneratedModel, description: String): Unit

  /**
   * Asks every worker once; each gets its model `from` as `shared`. The sum of their vectors, in the order of the partitions,
   * becomes model `to` of every worker. Models other than `from`, `to` and `kept` are dropped.
   *
   * @throws IllegalArgumentException
   *   if the workers hold no model `from`, or `to` is not higher than the versions before it
   * @throws ModelLostException
   *   if model `from` has been lost with executors
   */
  def allReduce(
      message: M,
      from: Long,
      to: Long,
      kept: Set[Long],
      note: Option[Serializable],
      description: String): Replies[S]

  /** Asks every worker once, as [[allReduce]] does, and ignores their vectors. */
  def ask(message: M, from: Long, description: String): Replies[S]

  /** Brings a model to whoever leads, who must not change it. */
  def collect(version: Long, description: String): Array[Byte]

  /**
   * Brings the model of the highest version that has a note and that workers hold, be it of this leader or of one before it
   * in the same fit. It is not a model of this leader until it has been distributed again.
   */
  def recover(description: String): Option[Recovered]

  /** Drops all models. */
  def release(): Unit
}
