package dwell.comm

import java.util.{LinkedHashMap => JLinkedHashMap}

import scala.collection.mutable

/**
 * The models that a process holds for the workers that run there, which share one copy of each. They outlive the tasks, so
 * that a fit whose gang breaks can go on from them.
 *
 * @param millis
 *   monotonic clock, for [[expire]]
 */
private[dwell] sealed class ModelStore(millis: () => Long) {
  import ModelStore._

  private final class Fit(var lastUsed: Long) {
    val models = mutable.SortedMap.empty[Long, Entry]
  }

  private val fits = mutable.HashMap.empty[Long, Fit]

  /** Fits that were freed last; a late task must not bring one of them back. */
  private val freed = new JLinkedHashMap[Long, Unit] {
    override def removeEldestEntry(eldest: java.util.Map.Entry[Long, Unit]): Boolean = size() > RememberedFits
  }

  /** Takes the place of a model of the same version. Ignored if the fit was freed. */
  def put(fit: Long, version: Long, entry: Entry): Unit = synchronized {
    expire(AbandonedMillis)
    if (!freed.containsKey(fit)) {
      fits.getOrElseUpdate(fit, new Fit(millis())).models(version) = entry
      notifyAll()
    }
  }

  def get(fit: Long, version: Long): Option[Entry] = synchronized(used(fit).flatMap(_.models.get(version)))

  /** Waits for a model that `maker` has made, asking `stop` now and then, which may throw. */
  def await(fit: Long, version: Long, maker: String)(stop: => Unit): Array[Byte] = {
    // One of another maker may differ: it is what an earlier attempt at the same version has left.
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

  /** The highest version that has a note, and the note. */
  def newest(fit: Long): Option[(Long, Serializable)] = synchronized {
    used(fit).flatMap(_.models.toSeq.collect { case (version, Entry(_, _, Some(note))) => (version, note) }.lastOption)
  }

  /** Drops all models of a fit but these. */
  def retain(fit: Long, versions: Set[Long]): Unit =
    synchronized(used(fit).foreach(_.models.filterInPlace((version, _) => versions(version))))

  /** Forgets a fit for good. */
  def free(fit: Long): Unit = synchronized {
    freed.put(fit, ())
    fits.remove(fit)
  }

  /** Forgets the fits none of whose models has been used for longer than `maxAgeMillis`. */
  def expire(maxAgeMillis: Long): Unit = synchronized {
    val now = millis()
    fits.filterInPlace((_, fit) => now - fit.lastUsed <= maxAgeMillis)
  }

  /** Models that are held. */
  def entries: Int = synchronized(fits.valuesIterator.map(_.models.size).sum)

  private def used(fit: Long): Option[Fit] = {
    val found = fits.get(fit)
    found.foreach(_.lastUsed = millis())
    found
  }
}

/** That of this process, which has to be one for all tasks; fits are freed at their end, or by their age. */
private[dwell] object ModelStore extends ModelStore(() => System.nanoTime() / 1000000L) {

  /**
   * @param maker
   *   the gang that has made the model
   * @param model
   *   is not changed any more
   */
  final case class Entry(maker: String, model: Array[Byte], note: Option[Serializable])

  /** A fit whose models, or states, nobody has asked for in so long belongs to a driver that died. */
  val AbandonedMillis: Long = 6L * 60 * 60 * 1000

  /** Freed fits that are remembered. What a task that outlives this many later fits leaves goes by its age. */
  private val RememberedFits = 4096

  private val LookEveryMillis = 20L
}
