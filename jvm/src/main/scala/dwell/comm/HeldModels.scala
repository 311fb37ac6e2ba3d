package dwell.comm

import java.io.Serializable

import scala.collection.mutable

/**
 * A leader's list of the models that its workers hold, by version.
 *
 * @tparam T
 *   what the leader needs in order to find a model
 */
private[comm] final class HeldModels[T] {
  private val held = mutable.SortedMap.empty[Long, (T, Option[Serializable])]
  private var highest = Option.empty[Long]

  /** @throws IllegalArgumentException if the workers hold no model of this version */
  def apply(version: Long): T = held
    .getOrElse(
      version,
      throw new IllegalArgumentException(
        s"the workers hold no model $version, but ${if (held.isEmpty) "none" else held.keys.mkString(", ")}"))
    ._1

  /** @throws IllegalArgumentException if the version is not higher than all before it */
  def checkNew(version: Long): Unit = require(
    highest.forall(version > _),
    s"model $version is not higher than ${highest.getOrElse(version)}, the version of a model that was made before it")

  /** Adds a model, whose version [[checkNew]] checks. */
  def put(version: Long, model: T, note: Option[Serializable]): Unit = {
    checkNew(version)
    held(version) = (model, note)
    highest = Some(version)
  }

  /** Forgets all models but these, and returns the forgotten ones. */
  def retain(versions: Set[Long]): Seq[T] = {
    val dropped = held.toSeq.collect { case (version, (model, _)) if !versions(version) => model }
    held --= held.keys.filterNot(versions).toSeq
    dropped
  }

  /** The models with a note, the highest version first. */
  def noted: Seq[(Long, T, Serializable)] =
    held.toSeq.reverse.collect { case (version, (model, Some(note))) => (version, model, note) }
}
