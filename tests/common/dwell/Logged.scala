package dwell

import scala.collection.mutable

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}

/** What a piece of code logs. */
object Logged {

  /** The result of `body`, and the warnings that were logged meanwhile. */
  def warnings[T](body: => T): (T, Seq[String]) = during(Level.WARN, _ => true)(body)

  /** The result of `body`, and what Dwell logged meanwhile on this level. */
  def at[T](level: Level)(body: => T): (T, Seq[String]) = {
    Configurator.setLevel("dwell", level)
    try during(level, _.startsWith("dwell."))(body)
    finally Configurator.setLevel("dwell", null: Level)
  }

  private def during[T](level: Level, by: String => Boolean)(body: => T): (T, Seq[String]) = {
    val heard = mutable.ArrayBuffer.empty[String]
    val appender = new AbstractAppender("heard", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        if (event.getLevel == level && by(event.getLoggerName))
          heard.synchronized(heard += event.getMessage.getFormattedMessage)
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
