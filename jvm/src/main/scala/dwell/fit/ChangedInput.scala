package dwell.fit

import org.apache.spark.internal.Logging

import dwell.spark.InputChangedException

/** Fits whose source gives other rows when Spark has to read it again. */
private[dwell] object ChangedInput extends Logging {

  /**
   * Reads data and fits. If the data changes meanwhile, everything is done once more from the beginning, because the rounds so
   * far used rows that no longer exist.
   *
   * @param uid
   *   uid of the estimator, for the log
   * @param fit
   *   reads the data whenever it is called
   * @throws InputChangedException
   *   if the data changes again
   */
  def outlived[T](uid: String)(fit: => T): T =
    try fit
    catch {
      case e: Throwable if isCauseOf(e) =>
        logWarning(s"$uid begins again, this once, from the rows as they are now. ${e.getMessage}")
        fit
    }

  private def isCauseOf(e: Throwable): Boolean =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(MostCauses).exists(_.isInstanceOf[InputChangedException])

  private val MostCauses = 16
}
