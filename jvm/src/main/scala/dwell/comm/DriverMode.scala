package dwell.comm

import java.nio.{ByteBuffer, ByteOrder}
import java.util.concurrent.{LinkedBlockingQueue, TimeUnit}

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

/**
 * What one worker returns from one exchange.
 *
 * @param update
 *   `headerBytes` of scalars, then the vector, little endian; empty where the worker has nothing to add
 * @param scalars
 *   whatever else the algorithm wants to know of this worker
 */
final case class Contribution[S](update: Array[Byte], scalars: S)

/**
 * Sum of the workers' vectors, and their scalars by partition.
 *
 * @param addSeconds
 *   time the driver spent on adding, which no worker's time covers
 */
final case class Gathered[S](sum: Array[Double], headers: Array[Array[Byte]], scalars: Array[S], addSeconds: Double)

/**
 * The `driver` mode of a round: one Spark job. The message travels as one broadcast, the vectors come back as byte
 * arrays (nothing is serialised element by element) and are added in partition order as they arrive, so that the sum
 * has the same bits whatever the order of arrival.
 */
object DriverMode {

  /**
   * Runs `step` once on the single element of each partition of `data`.
   *
   * @param length
   *   entries of the vector that is summed
   * @param headerBytes
   *   bytes before the vector, which are handed back and not summed
   */
  def exchange[D, M: ClassTag, S: ClassTag](data: RDD[D], message: M, headerBytes: Int, length: Int)(
      step: (D, M) => Contribution[S]): Gathered[S] = {
    val sc: SparkContext = data.sparkContext
    val shared = sc.broadcast(message)
    val partitions = data.getNumPartitions
    // The result handler runs on the scheduler's event loop, where adding would stop every other job of the
    // application. It only hands the result over; this thread adds.
    val arrived = new LinkedBlockingQueue[(Int, Contribution[S])]()
    val sum = new Array[Double](length)
    val headers = new Array[Array[Byte]](partitions)
    val scalars = new Array[S](partitions)
    val waiting = new Array[Contribution[S]](partitions)
    var next = 0
    var addNanos = 0L
    try {
      val job = sc.submitJob(
        data,
        (elements: Iterator[D]) => step(elements.next(), shared.value),
        0 until partitions,
        (k: Int, c: Contribution[S]) => { arrived.put((k, c)) },
        ())
      try {
        while (next < partitions) {
          // A failed job delivers no further results, so completion is asked for between two looks.
          val done = job.isCompleted
          val item = arrived.poll(PollMillis, TimeUnit.MILLISECONDS)
          if (item != null) {
            waiting(item._1) = item._2
            val start = System.nanoTime()
            while (next < partitions && waiting(next) != null) {
              val c = waiting(next)
              if (c.update.nonEmpty) {
                headers(next) = java.util.Arrays.copyOf(c.update, headerBytes)
                add(c.update, headerBytes, sum)
              }
              scalars(next) = c.scalars
              waiting(next) = null
              next += 1
            }
            addNanos += System.nanoTime() - start
          } else if (done) {
            job.value.foreach(_.get) // throws what the job failed with
            throw new IllegalStateException(s"the round's job ended with $next of $partitions results")
          }
        }
      } catch {
        case e: Throwable =>
          job.cancel()
          throw e
      }
    } finally {
      // The context may be gone when this unwinds after SparkContext.stop, and then so is the broadcast.
      if (!sc.isStopped) shared.destroy()
    }
    Gathered(sum, headers, scalars, addNanos * 1e-9)
  }

  private val PollMillis = 100L

  private def add(bytes: Array[Byte], offset: Int, sum: Array[Double]): Unit = {
    require(
      bytes.length == offset + 8L * sum.length,
      s"an update has ${bytes.length} bytes where ${offset + 8L * sum.length} were expected")
    val values = ByteBuffer.wrap(bytes, offset, bytes.length - offset).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer()
    var j = 0
    while (j < sum.length) {
      sum(j) += values.get(j)
      j += 1
    }
  }
}
