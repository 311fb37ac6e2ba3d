package dwell.fit

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.SparkSession

/**
 * Settings of the session that a fit runs in.
 *
 * @param fallbackIsError
 *   `spark.dwell.fallback=error`: a fit that cannot run natively throws an exception
 * @param shareData
 *   `spark.dwell.shareData=true`: fits on the same cached DataFrame share the data as read and start from each other's
 *   solutions; it stays cached for up to a minute after a fit
 * @param gangPatienceMillis
 *   `spark.dwell.gangPatience`: how long a barrier stage may wait for its slots before the fit goes on in driver mode
 * @param maxResultBytes
 *   `spark.driver.maxResultSize`; `Long.MaxValue` where there is no limit
 * @param driverHeap
 *   the most bytes that the driver's heap can take
 * @param taskCpus
 *   `spark.task.cpus`: threads of one local solver
 */
final case class DwellConf(
    fallbackIsError: Boolean,
    shareData: Boolean,
    gangPatienceMillis: Long,
    maxResultBytes: Long,
    driverHeap: Long,
    taskCpus: Int) {

  /**
   * How the workers of the session solve. Results of a job take up to a quarter of the driver's heap: they may all arrive before
   * the first is added, and each is there as it came and as it is read.
   */
  def solverSettings: SolverSettings =
    SolverSettings(taskCpus, gangPatienceMillis, math.min(maxResultBytes, driverHeap / 4L), maxResultBytes)
}

/** The keys of the settings. */
object DwellConf {
  val Fallback = "spark.dwell.fallback"
  val ShareData = "spark.dwell.shareData"
  val GangPatience = "spark.dwell.gangPatience"

  /** A Param that earlier versions had as a key, too. */
  private val Gone = "aggregation"

  /**
   * Reads the session's settings, which include the settings of spark-submit.
   *
   * @throws IllegalArgumentException
   *   if a setting has a value that is not allowed
   */
  def apply(session: SparkSession): DwellConf = {
    val conf = session.sparkContext.getConf
    def get(key: String): Option[String] = session.conf.getOption(key).orElse(conf.getOption(key))
    def read(key: String, allowed: Seq[String]): String = {
      val value = get(key).getOrElse(allowed.head)
      require(allowed.contains(value), s"$key must be one of ${allowed.mkString(", ")}, but was '$value'")
      value
    }
    require(
      get(s"spark.dwell.$Gone").isEmpty,
      s"spark.dwell.$Gone is gone: set the Param $Gone of the estimator instead")
    DwellConf(
      read(Fallback, Seq("warn", "error")) == "error",
      read(ShareData, Seq("false", "true")) == "true",
      milliseconds(GangPatience, get(GangPatience).getOrElse("10s")),
      Some(JavaUtils.byteStringAsBytes(conf.get("spark.driver.maxResultSize", "1g")))
        .filter(_ > 0L)
        .getOrElse(Long.MaxValue),
      Runtime.getRuntime.maxMemory,
      conf.getInt("spark.task.cpus", 1))
  }

  private def milliseconds(key: String, value: String): Long =
    try JavaUtils.timeStringAsMs(value)
    catch {
      case e: NumberFormatException =>
        throw new IllegalArgumentException(s"$key must be a time such as 10s or 2min, but was '$value'", e)
    }
}
