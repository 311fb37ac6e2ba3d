package dwell.session

import java.util.WeakHashMap

import scala.collection.mutable

import org.apache.spark.sql.SparkSession

import dwell.report.FitReport

/**
 * The last reports of each session of Spark Connect, by the session that trained. A client has no object of the JVM to ask for a report,
 * and a model that the server has moved to disk comes back as another object. Sessions are held weakly.
 */
private[dwell] object SessionReports {

  /**
   * @param fit
   *   the tag under which the client fitted the model; empty if the client has set none
   */
  final case class KeptReport(fit: String, report: FitReport)

  /** Reports of a session. The fit of a search whose model is kept is its last one. */
  private val Most = 100

  /** Spark's own tags of what a server runs, and in one of them the tag of the client. */
  private val OfServer = "SparkConnect_"
  private val OfClient = "_Tag_(dwell-[0-9a-f]{32})$".r.unanchored

  private val kept = new WeakHashMap[SparkSession, mutable.ArrayBuffer[KeptReport]]

  /** Keeps the report of a fit that a client asks for in this thread. Reports of other fits are found by their models. */
  def keep(report: FitReport): Unit =
    for (session <- SparkSession.getActiveSession) {
      val tags = session.sparkContext.getJobTags()
      if (tags.exists(_.startsWith(OfServer))) {
        val fit = tags.collectFirst { case OfClient(tag) => tag }.getOrElse("")
        synchronized {
          val reports = kept.computeIfAbsent(session, _ => mutable.ArrayBuffer.empty[KeptReport])
          reports += KeptReport(fit, report)
          if (reports.size > Most) reports.remove(0)
        }
      }
    }

  /** The reports of a session, the oldest first. */
  def of(session: SparkSession): Seq[KeptReport] = synchronized(Option(kept.get(session)).toList.flatten)
}
