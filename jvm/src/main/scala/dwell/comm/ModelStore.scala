package dwell.comm

import java.io.Serializable
import java.util.{LinkedHashMap => JLinkedHashMap}

import scala.collection.mutable

/**
 * The models that a process holds for its workers, which share one copy of each. Models outlive the tasks, so that a
 * fit whose gang breaks can go on from them.
 *
 * @param millis
 *   monotonic clock, for [[expire]]
 */
private[dwell] sealed class ModelStore(millis: () => Long) {
  import ModelStore._

  private final class FitModels(var lastUsed: Long) {
    val models = mutable.SortedMap.empty[Long, Entry]
  }

  private val fits = mutable.HashMap.empty[Long, FitModels]

  /** The fits freed last. A late task must not bring one of them back. */
  private val freed = new JLinkedHashMap[Long, Unit] {
    override def removeEldestEntry(eldest: java.util.Map.Entry[Long, Unit]): Boolean = size() > RememberedFits
  }

  /** Adds a model, or replaces the model of the same version. Does nothing if the fit was freed. */
  def put(fit: Long, version: Long, entry: Entry): Unit = synchronized {
    expire(AbandonedMillis)
    if (!freed.containsKey(fit)) {
      fits.getOrElseUpdate(fit, new FitModels(millis())).models(version) = entry
      notifyAll()
    }
  }

  /** The model of this version, from any maker. */
  def get(fit: Long, version: Long): Option[Entry] = synchronized(used(fit).flatMap(_.models.get(version)))

  /** Waits for a model of the gang `maker`. Meanwhile calls `stop` about every 20 ms, which may throw. */
  def await(fit: Long, version: Long, maker: String)(stop: => Unit): Array[Byte] = {
    // A model of another maker may differ: an earlier attempt at the same version left it.
    def found = get(fit, version).filter(_.maker == maker)
    var entry = found
    while (entry.isEmpty) {
      stop
      entry = synchronized {
        if (found.isEmpty) wait(LookEveryMillis)
        found
      }
    }
    entry.get.model
  }

  /** The highest version whose model has a note, and the note. */
  def newest(fit: Long): Option[(Long, Serializable)] = synchronized {
    used(fit).flatMap(_.models.toSeq.collect { case (version, Entry(_, _, Some(note))) => (version, note) }.lastOption)
  }

  /** Drops all models of a fit but these. */
  def retain(fit: Long, versions: Set[Long]): Unit =
    synchronized(used(fit).map(_.models).foreach(models => models --= models.keys.filterNot(versions).toSeq))

  /** Drops all models of a fit and accepts no more. */
  def free(fit: Long): Unit = synchronized {
    freed.put(fit, ())
    fits.remove(fit)
  }

  /** Drops the fits that no call has used for more than `maxAgeMillis`. */
  def expire(maxAgeMillis: Long): Unit = synchronized {
    val now = millis()
    fits --= fits.collect { case (id, fit) if now - fit.lastUsed > maxAgeMillis => id }.toSeq
  }

  /** The number of models held, over all fits. */
  def entries: Int = synchronized(fits.valuesIterator.map(_.models.size).sum)

  private def used(fit: Long): Option[FitModels] = {
    val found = fits.get(fit)
    found.foreach(_.lastUsed = millis())
    found
  }
}

/** The store of this process, which all its tasks share. A fit is freed when it ends, or dropped by its age. */
private[dwell] object ModelStore extends ModelStore(() => System.nanoTime() / 1000000L) {

  /**
   * A model.
   *
   * @param maker
   *   the gang that made the model
   * @param model
   *   little endian; must not change any more
   * @param note
   *   see [[Replicas]]
   */
  final case class Entry(maker: String, model: Array[Byte], note: Option[Serializable])

  /** If no task has used the models or states of a fit for this time, its driver has died. */
  val AbandonedMillis: Long = 6L * 60 * 60 * 1000

  /**
   * How many freed fits the store remembers. A task that outlives this many later fits leaves models that age removes.
   */
  private val RememberedFits = 4096

  private val LookEveryMillis = 20L
}
