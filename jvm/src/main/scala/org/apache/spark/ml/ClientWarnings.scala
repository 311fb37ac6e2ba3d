package org.apache.spark.ml

import scala.collection.mutable
import scala.util.Try

/** The warnings of a fit that a server of Spark Connect sends to its client. Spark has had a place for them since 4.1. */
object ClientWarnings {

  /** Null in a thread that no client waits for. */
  private lazy val buffer: Option[ThreadLocal[mutable.Buffer[String]]] = Try {
    val utils = Class.forName("org.apache.spark.ml.EstimatorUtils$")
    val found = utils.getMethod("warningMessagesBuffer").invoke(utils.getField("MODULE$").get(null))
    found.asInstanceOf[ThreadLocal[mutable.Buffer[String]]]
  }.toOption

  /** Adds a warning of the fit that runs in this thread. */
  def add(text: String): Unit = buffer.flatMap(local => Option(local.get)).foreach(_ += text)
}
