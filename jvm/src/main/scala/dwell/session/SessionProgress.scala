package dwell.session

import java.util.WeakHashMap
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.SparkSession

import dwell.record.{FitEnded, FitStarted, RoundCompleted}
import dwell.report.FitProgress

/** The fits of the sessions whose clients ask for them. A session that nobody asks for costs nothing. */
private[dwell] object SessionProgress {

  /** How long the fits of a session are followed after its client has asked. */
  private val PatienceNanos = 60L * 1000 * 1000 * 1000

  private val followed = new WeakHashMap[SparkSession, Following]

  /** Notes that a fit begins in this thread, before its first event. */
  def begins(uid: String): Unit =
    SparkSession.getActiveSession.flatMap(following).foreach(_.uids.add(uid))

  /** The fits of a session since the last call, as JSON. */
  def of(session: SparkSession): String = synchronized {
    val found = following(session).getOrElse {
      val started = new Following(session.sparkContext)
      followed.put(session, started)
      started
    }
    found.asked = System.nanoTime()
    found.fits.toJson
  }

  private def following(session: SparkSession): Option[Following] =
    synchronized(Option(followed.get(session)).filterNot(_.isOver))

  /** Follows the fits of one session, and leaves when its client asks no more. */
  private final class Following(sc: SparkContext) extends SparkListener {
    val uids: java.util.Set[String] = ConcurrentHashMap.newKeySet[String]()
    val fits = new FitProgress
    @volatile var asked: Long = System.nanoTime()

    sc.addSparkListener(this)

    def isOver: Boolean = System.nanoTime() - asked > PatienceNanos

    override def onOtherEvent(event: SparkListenerEvent): Unit = {
      val uid = event match {
        case started: FitStarted => started.uid
        case completed: RoundCompleted => completed.uid
        case ended: FitEnded => ended.uid
        case _ => ""
      }
      if (isOver) sc.removeSparkListener(this)
      else if (uids.contains(uid)) fits.onOtherEvent(event)
    }
  }
}
