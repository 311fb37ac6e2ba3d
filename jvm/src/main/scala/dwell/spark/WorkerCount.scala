package dwell.spark

import org.apache.spark.{DwellBridge, ExecutorMemory, SparkContext}

import dwell.problem.RowUse

/** Chooses the number of workers if the user sets none. */
object WorkerCount {

  /**
   * One worker for each slot, but fewer if a worker would have too few nonzeros to pay for its overhead, and more if a
   * partition would have no room in an executor's memory or in an array.
   *
   * @param nonzeros
   *   of all partitions
   * @param bytes
   *   of all partitions
   * @param worthAWorker
   *   nonzeros that pay for the overhead of one worker
   */
  def choose(sc: SparkContext, nonzeros: Long, bytes: Long, worthAWorker: Long): Int = {
    val fastest = math.min(slots(sc).toLong, nonzeros / worthAWorker)
    val forMemory = mostBytes(sc).fold(1L)(most => 1L + (bytes - 1L) / math.max(1L, most))
    Seq(1L, fastest, forMemory, 1L + nonzeros / MostNonzeros).max.toInt
  }

  /**
   * Nonzeros that pay for the overhead of one worker.
   *
   * Workers that only add sums over rows cost no more rounds. But in each round every worker gets a vector with an entry a
   * feature, and answers with one. A million nonzeros are about 5 ms of work, as much as a task costs. An entry of the vectors takes about
   * 20 ns, and a nonzero 11 ns where features are many: two nonzeros a feature are work for as long as the vectors need.
   */
  def worthAWorker(use: RowUse, numFeatures: Int): Long = use match {
    case RowUse.Sums => math.max(1000000L, 2L * numFeatures)
    case RowUse.Coordinates | RowUse.Averages => NonzerosWorthAWorker
  }

  /**
   * The number of tasks that the cluster runs at once: the slots of the executors registered now, which have read the data
   * when this is asked. Not `spark.default.parallelism`, which may be any number. Where no executor is registered, the
   * tasks that Spark would split data into by default.
   */
  private def slots(sc: SparkContext): Int = {
    val registered = DwellBridge.slots(sc)
    if (registered > 0) registered else sc.defaultParallelism
  }

  /**
   * The bytes that a partition may have. It is one object beside what Spark's memory holds while a task puts it together, or
   * reads it from disk, and executors of 1 GB have room for 0.6 of that memory again: 100,000 rows of 400 doubles in two
   * partitions.
   */
  private[spark] def mostBytes(sc: SparkContext): Option[Long] =
    ExecutorMemory.ofSlot(sc).map(bytes => (0.6 * bytes).toLong)

  /** What a partition may have on average: an array holds a third more. */
  private val MostNonzeros = 3L << 29

  /**
   * About 50 ms of work in an epoch, which is also the least that a round costs. K workers whose updates are added need
   * about K times the rounds of one worker, so a second worker pays only if epochs take most of a fit's time.
   */
  val NonzerosWorthAWorker = 10000000L
}
