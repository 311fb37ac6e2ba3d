package dwell.ml.training

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerUnpersistRDD}
import org.apache.spark.sql.CacheBridge.CachedColumns

import dwell.base.InputChangedException

/**
 * Training data that fits on one cached DataFrame share, for callers such as Spark's `CrossValidator`, which fit one
 * Param map after the other. The data is kept under the cached relation that it was read from, and found only while
 * Spark itself would still read from that very relation. What is kept is a copy: losing it costs time, nothing else.
 *
 * It is released once the relation is unpersisted, the context stops, a fit on it fails, nobody has used it for a while,
 * or other data needs the place.
 */
private[ml] object DataSharing extends Logging {

  /** How much is kept at a time: a grid search works on one DataFrame. */
  private val MaxEntries = 2

  /** How long unused data is kept. Models of a grid search are evaluated between fits. */
  private val DefaultIdleMillis = 60L * 1000

  @volatile private[ml] var idleMillis: Long = DefaultIdleMillis

  /** A relation that changes at every look is not worth a further one. */
  private val MaxAttempts = 3

  /** @param settings what else must be equal for fits to read the same and to start from one another */
  private final case class Key(columns: CachedColumns, settings: Any)

  // Least recently used first. What is mutable in here and in the entries is guarded by the lock of this object, except
  // for what belongs to the turn. The lock is held for moments only, and never while Spark is called: a stopping
  // context waits for its listeners, which need the lock.
  private val entries = mutable.ArrayBuffer.empty[Entry]
  private val expired = mutable.Queue.empty[Entry]
  private var janitor: Option[Thread] = None

  private final class Entry(val key: Key) {
    val rows = new SharedRows
    var users = 0
    var lastUse: Long = System.nanoTime()
    var current = true

    /** Whose turn it is. */
    val turn = new Object

    private val rdd: RDD[_] = key.columns.rdd
    private val listener: SparkListener = new Watch(this, rdd.id)

    private var watched = false

    /** To be called in a turn, before the relation is looked up: what happens to it afterwards is not missed. */
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

  /** Only notes what is to be released: listeners must not wait, and releasing may run a job. */
  private final class Watch(entry: Entry, rddId: Int) extends SparkListener {
    override def onUnpersistRDD(event: SparkListenerUnpersistRDD): Unit = if (event.rddId == rddId) expire(entry)
    override def onApplicationEnd(event: SparkListenerApplicationEnd): Unit = expire(entry)
  }

  /**
   * Runs a fit on the data that is kept for what `find` returns. Fits on the same data take turns.
   *
   * @param find
   *   the cached columns that Spark would read now
   * @return
   *   None where there is nothing to share; `fit` was not called then, or its result is void
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
        // Others may have had their turn meanwhile, and an event may still be under way.
        if (isCurrent(entry) && find().contains(entry.key.columns)) {
          val inherited = entry.rows.isOpen
          try Some(fit(entry.rows))
          catch {
            // The copy was lost, and what it was made of as well: a fit of its own would not have noticed.
            case e: Throwable if inherited && hasChanged(e) => None
          }
        } else None
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

  private def hasChanged(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(16).exists(_.isInstanceOf[InputChangedException])

  /** The entry of this key, a new one if need be; None where all places are in use. */
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

  /** The entry is not found any more; its data goes with the last fit that is using it. */
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
      // Without the thread locals of the fit that happens to be the first: job group, scheduler pool, session.
      val thread = new Thread(null, () => clean(), "dwell-shared-data", 0L, false)
      thread.setDaemon(true)
      janitor = Some(thread)
      thread.start()
    }

  /** Releases what is expired or idle, as long as there is something to watch over. */
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

  /** Milliseconds until the next entry is idle for too long; one that is in use starts anew when it is left. */
  private def nextIdle(): Long = entries.map(e => if (e.users > 0) idleMillis else idleIn(e)).min

  private def idleIn(entry: Entry): Long = idleMillis - (System.nanoTime() - entry.lastUse) / 1000000L
}
