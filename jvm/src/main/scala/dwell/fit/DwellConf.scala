package dwell.fit

import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.SparkSession

/**
 * Settings of the session that a fit runs in.
 *
 * @param fallbackIsError
 *   `spark.dwell.fallback=error`: a fit that cannot run natively throws an exception
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
  val GangPatience = "spark.dwell.gangPatience"

  /** Keys of earlier versions, and what to do instead. */
  private val Gone = Seq(
    "aggregation" -> "set the Param aggregation of the estimator",
    "shareData" -> "search with dwell.ml.tuning.CrossValidator, or fit an array of Param maps")

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
    for ((name, instead) <- Gone)
      require(get(s"spark.dwell.$name").isEmpty, s"spark.dwell.$name is gone: $instead instead")
    DwellConf(
      read(Fallback, Seq("warn", "error")) == "error",
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
