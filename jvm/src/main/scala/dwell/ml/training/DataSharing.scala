package dwell.ml.training

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerUnpersistRDD}
import org.apache.spark.sql.CacheBridge.CachedColumns

/**
 * Training data that fits on one cached DataFrame share, for callers such as Spark's `CrossValidator`, which fit one
 * Param map after the other. The data is kept under the cached relation that it was read from. A fit finds it only
 * while Spark itself would still read from that very relation. It is a copy, so losing it costs only time.
 *
 * The data is released if the relation is unpersisted, the context stops, a fit on the data fails, no fit uses it for a
 * while, or other data takes its place.
 */
private[ml] object DataSharing extends Logging {

  /** How many datasets are kept at a time. A grid search works on one DataFrame. */
  private val MaxEntries = 2

  /** How long unused data is kept. A grid search evaluates models between fits. */
  private val DefaultIdleMillis = 60L * 1000

  @volatile private[ml] var idleMillis: Long = DefaultIdleMillis

  /** How often a fit looks for a relation that changes at every look. */
  private val MaxAttempts = 3

  /**
   * @param settings all else that must be equal if fits are to read the same data and start from each other's solutions
   */
  private final case class Key(columns: CachedColumns, settings: Any)

  // Least recently used first. The lock of this object guards all mutable fields here and in the entries, except those
  // that the turn guards. It is held only for moments and never during a call of Spark: a stopping context waits for
  // its listeners, which need the lock.
  private val entries = mutable.ArrayBuffer.empty[Entry]
  private val expired = mutable.Queue.empty[Entry]
  private var janitor: Option[Thread] = None

  private final class Entry(val key: Key) {
    val rows = new SharedRows
    var users = 0
    var lastUse: Long = System.nanoTime()
    var current = true

    /** The lock of the fit whose turn it is. */
    val turn = new Object

    private val rdd: RDD[_] = key.columns.rdd
    private val listener: SparkListener = new Watch(this, rdd.id)

    private var watched = false

    /** Must be called in a turn, before the look-up of the relation, so that no later event is missed. */
    def watch(): Unit =
      if (!watched) {
        rdd.sparkContext.addSparkListener(listener)
        watched = true
      }

    def release(): Unit =
      try {
        rdd.sparkContext.removeSparkListener(listener)
        rows.close()
      } catch {
        case NonFatal(e) => logWarning("Shared training data was not released completely.", e)
      }
  }

  /** Only marks the entry for release: listeners must not wait, and releasing may run a job. */
  private final class Watch(entry: Entry, rddId: Int) extends SparkListener {
    override def onUnpersistRDD(event: SparkListenerUnpersistRDD): Unit = if (event.rddId == rddId) expire(entry)
    override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = expire(entry)
  }

  /**
   * Runs a fit on the data that is kept for the columns that `find` returns. Fits on the same data take turns.
   *
   * @param find
   *   gives the cached columns that Spark would read now
   * @return
   *   None if there is nothing to share. `fit` was not called then
   */
  def use[T](settings: Any)(find: () => Option[CachedColumns])(fit: SharedRows => T): Option[T] = {
    @tailrec
    def attempt(left: Int): Option[T] =
      find().flatMap(columns => enter(Key(columns, settings))) match {
        case Some(entry) if left > 0 =>
          inTurn(entry, find, fit) match {
            case None => attempt(left - 1)
            case done => done
          }
        case Some(entry) =>
          leave(entry)
          None
        case None => None
      }
    attempt(MaxAttempts)
  }

  /** None if the data turned out to be outdated. */
  private def inTurn[T](entry: Entry, find: () => Option[CachedColumns], fit: SharedRows => T): Option[T] =
    try {
      entry.turn.synchronized {
        entry.watch()
        // Other fits may have had their turn meanwhile, and an event may be on its way.
        if (isCurrent(entry) && find().contains(entry.key.columns)) Some(fit(entry.rows)) else None
      } match {
        case None =>
          expire(entry)
          None
        case done => done
      }
    } catch {
      case e: Throwable =>
        expire(entry)
        throw e
    } finally leave(entry)

  /** The entry of this key, a new one if there is none; None if all places are in use. */
  private def enter(key: Key): Option[Entry] = {
    val (entry, evicted) = synchronized {
      entries.find(_.key == key) match {
        case Some(entry) =>
          entries -= entry
          entries += entry
          entry.users += 1
          (Some(entry), None)
        case None =>
          val evicted = if (entries.length < MaxEntries) None else entries.find(_.users == 0)
          evicted.foreach(withdraw)
          if (entries.length >= MaxEntries) (None, None)
          else {
            val entry = new Entry(key)
            entry.users = 1
            entries += entry
            startJanitor()
            (Some(entry), evicted)
          }
      }
    }
    evicted.foreach(_.release())
    entry
  }

  private def leave(entry: Entry): Unit = {
    val last = synchronized {
      entry.users -= 1
      entry.lastUse = System.nanoTime()
      entry.users == 0 && !entry.current
    }
    if (last) entry.release()
  }

  private def isCurrent(entry: Entry): Boolean = synchronized(entry.current)

  /** Fits no longer find the entry. The last fit that uses its data releases it. */
  private def expire(entry: Entry): Unit = synchronized {
    if (entry.current) {
      withdraw(entry)
      if (entry.users == 0) expired += entry
    }
  }

  private def withdraw(entry: Entry): Unit = {
    entry.current = false
    entries -= entry
    notifyAll()
  }

  private def startJanitor(): Unit =
    if (!janitor.exists(_.isAlive)) {
      // The thread must not inherit the thread locals of the first fit: job group, scheduler pool, session.
      val thread = new Thread(null, () => clean(), "dwell-shared-data", 0L, false)
      thread.setDaemon(true)
      janitor = Some(thread)
      thread.start()
    }

  /** Releases expired and idle entries, until there are no entries left. */
  @tailrec
  private def clean(): Unit = {
    val next = synchronized {
      while (expired.isEmpty && entries.nonEmpty && nextIdle() > 0L) wait(math.max(1L, nextIdle()))
      entries.filter(entry => entry.users == 0 && idleIn(entry) <= 0L).toSeq.foreach { entry =>
        withdraw(entry)
        expired += entry
      }
      val found = if (expired.isEmpty) None else Some(expired.dequeue())
      if (found.isEmpty && entries.isEmpty) janitor = None
      found.orElse(if (janitor.isEmpty) None else Some(null))
    }
    next match {
      case None => ()
      case Some(entry) =>
        if (entry != null) entry.release()
        clean()
    }
  }

  /**
   * Milliseconds until the next entry has been idle for too long. The time of an entry in use starts when fits leave
   * it.
   */
  private def nextIdle(): Long = entries.map(e => if (e.users > 0) idleMillis else idleIn(e)).min

  private def idleIn(entry: Entry): Long = idleMillis - (System.nanoTime() - entry.lastUse) / 1000000L
}
