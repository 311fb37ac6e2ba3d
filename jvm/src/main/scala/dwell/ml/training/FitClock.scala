package dwell.ml.training

/** The seconds of a fit, and of the phases that the estimator itself runs. */
private[ml] final class FitClock {
  private val started = System.nanoTime()
  private var spentReading = 0.0
  private var spentOnModel = 0.0
  private var spentBySpark = 0.0

  /** Seconds since the fit began. */
  def seconds: Double = (System.nanoTime() - started) * 1e-9

  def readSeconds: Double = spentReading
  def modelSeconds: Double = spentOnModel
  def sparkSeconds: Double = spentBySpark

  /** Runs a part of the reading. */
  def reading[T](read: => T): T = timed(read)(spentReading += _)

  /** Builds Spark's model. */
  def building[T](model: => T): T = timed(model)(spentOnModel += _)

  /** Trains with Spark's own code. */
  def bySpark[T](train: => T): T = timed(train)(spentBySpark += _)

  private def timed[T](body: => T)(spent: Double => Unit): T = {
    val before = seconds
    val result = body
    spent(seconds - before)
    result
  }
}
