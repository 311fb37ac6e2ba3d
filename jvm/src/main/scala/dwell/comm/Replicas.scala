package dwell.comm

import java.io.Serializable

/** A model that workers still held, with the note of the call that made it; little endian. */
final case class Recovered(version: Long, note: Any, model: Array[Byte])

/** The workers lost a model, or a part of it, and cannot make it again. */
final class ModelLostException(message: String) extends Exception(message)

/**
 * Workers that all hold the same models, as replicas that are equal to the bit. A model is a vector, little endian,
 * with as many entries as the vectors of the workers' contributions, and has a version.
 *
 * Versions rise: each version that a leader makes is higher than its earlier ones.
 *
 * A note is short and tells the next leader how to go on from a model. [[recover]] does not find a model without a
 * note.
 */
trait Replicas[M, S] extends Workers[M, S] {

  /**
   * Gives every worker a copy of a model. The caller may change its array afterwards.
   *
   * @throws IllegalArgumentException
   *   if the version is not higher than those before it
   */
  def distribute(version: Long, model: Array[Byte], note: Option[Serializable], description: String): Unit

  /**
   * Lets every worker make the same model itself. It has no note: a leader makes it again instead of recovering it.
   *
   * @throws IllegalArgumentException
   *   if the version is not higher than those before it
   */
  def begin(version: Long, origin: GeneratedModel, description: String): Unit

  /**
   * Asks every worker once; each gets its model `from` as `shared`. The sum of their vectors, added in the order of the
   * partitions, becomes model `to` of every worker. Models other than `from`, `to` and `kept` are dropped.
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

  /** Asks every worker once, with the errors of [[allReduce]], and ignores their vectors. */
  def ask(message: M, from: Long, description: String): Replies[S]

  /** Brings a model to the leader, which must not change it. */
  def collect(version: Long, description: String): Array[Byte]

  /**
   * Brings the model of the highest version that has a note and that workers hold. This leader or an earlier one of the
   * same fit made it. The leader must distribute it before it can use it as a model.
   */
  def recover(description: String): Option[Recovered]

  /** Drops all models. */
  def release(): Unit
}
