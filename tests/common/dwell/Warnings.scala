package dwell

import scala.collection.mutable

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property

/** The warnings that a piece of code logs. */
object Warnings {

  /** The result of `body`, and the warnings that were logged meanwhile. */
  def during[T](body: => T): (T, Seq[String]) = {
    val heard = mutable.ArrayBuffer.empty[String]
    val appender = new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        if (event.getLevel == Level.WARN) heard.synchronized(heard += event.getMessage.getFormattedMessage)
    }
    val root = LogManager.getRootLogger.asInstanceOf[Logger]
    appender.start()
    root.addAppender(appender)
    try {
      val result = body
      (result, heard.synchronized(heard.toSeq))
    } finally {
      root.removeAppender(appender)
      appender.stop()
    }
  }
}
