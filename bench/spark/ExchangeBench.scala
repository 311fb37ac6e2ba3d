package dwell.bench

import java.nio.{ByteBuffer, ByteOrder}
import java.util.concurrent.ConcurrentHashMap

import scala.concurrent.duration._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

import dwell.comm.{ModelStore, OnExecutors, Replicas, Workers}
import dwell.comm.gang.Gang
import dwell.comm.jobs.{DriverMode, ShuffleMode}
import dwell.comm.wire.{Contribution, VectorFormat}

/**
 * Milliseconds of one exchange in each mode of aggregation: a vector goes to every worker, one comes back from each, and they
 * are added. And those of one allReduce, before which the workers hold the vector, and after which they hold the sum; also
 * where most entries are zero. The workers do nothing else. One worker on each executor.
 */
object ExchangeBench {

  private val Lengths = Seq(1000, 20000, 200000, 1000000, 8000000)

  /** Longer vectors are exchanged less often. */
  private val LongLength = 4000000
  private val HeaderBytes = 512
  private val Modes = Seq("driver", "shuffle", "gang")
  private val Executors = 2

  private type Call = (Replicas[Int, Int], Int) => Seq[Double]

  /** Calls, and of how many entries one is not zero. */
  private val Calls = Seq[(String, Call, Int)](
    ("exchange", exchanges(_, _), 1),
    ("allReduce", allReduces(_, _), 1),
    ("allReduce of 1/4", allReduces(_, _), 4),
    ("allReduce of 1/100", allReduces(_, _), 100))

  def main(args: Array[String]): Unit = Bench.run("exchange bench", args) { bench =>
    val spark = bench.spark
    val data = spark.sparkContext.parallelize(0 until Executors, Executors).cache()
    data.count()
    for (length <- Lengths) {
      val measured = for (_ <- 1 to bench.repetitions; mode <- Modes; (name, call, every) <- Calls) yield {
        (mode, name) -> milliseconds(spark, data, mode, length, call, every)
      }
      for (mode <- Modes; (name, _, _) <- Calls) {
        val medians = measured.collect { case (of, times) if of == ((mode, name)) => Bench.median(times) }
        println(f"$length%8d doubles, $mode%-7s $name%-18s median ${Bench
            .median(medians)}%.2f ms of ${medians.map(m => f"$m%.2f").mkString(" ")}")
        bench.add("length" -> length, "workers" -> Executors, "mode" -> mode, "call" -> name, "milliseconds" -> medians)
      }
    }
  }

  /** Of each exchange in a mode, but for the first ones. */
  private[bench] def milliseconds(spark: SparkSession, data: RDD[Int], mode: String, length: Int): Seq[Double] =
    milliseconds(spark, data, mode, length, exchanges(_, _), 1)

  private def milliseconds(
      spark: SparkSession,
      data: RDD[Int],
      mode: String,
      length: Int,
      call: Call,
      every: Int): Seq[Double] = {
    val fit = System.nanoTime()
    mode match {
      case "driver" => call(new DriverMode(data, fit, VectorFormat(HeaderBytes, length))(step(length, every)), length)
      case "shuffle" => call(new ShuffleMode(data, fit, VectorFormat(HeaderBytes, length))(step(length, every)), length)
      case "gang" =>
        try {
          Gang.run(data, s"dwell-exchange-bench-$fit", fit, VectorFormat(HeaderBytes, length), 10000L)(
            step(length, every))((workers: Replicas[Int, Int], _) => call(workers, length))(_ => ())
        } finally OnExecutors.run(spark.sparkContext, 10.seconds, "free models")(() => ModelStore.free(fit))
    }
  }

  private def exchanges(workers: Replicas[Int, Int], length: Int): Seq[Double] = {
    val shared = new Array[Byte](8 * length)
    timed(length)(workers.exchange(_, shared, "exchange"))
  }

  private def allReduces(workers: Replicas[Int, Int], length: Int): Seq[Double] = {
    workers.distribute(0L, new Array[Byte](8 * length), None, "distribute")
    val times = timed(length)(i => workers.allReduce(i, i - 1L, i.toLong, Set.empty, None, "allReduce"))
    workers.release()
    times
  }

  private def timed(length: Int)(call: Int => Any): Seq[Double] = {
    val warmUp = if (length < LongLength) 20 else 5
    (1 to 3 * warmUp).map(i => Bench.timed(call(i)).seconds * 1e3).drop(warmUp)
  }

  private def step(length: Int, every: Int): Workers.Step[Int, Int, Int] = (_, message, _) =>
    Contribution(updates.computeIfAbsent((length, every), _ => update(length, every)), message)

  /** Made once in a process. */
  private val updates = new ConcurrentHashMap[(Int, Int), Array[Byte]]()

  private def update(length: Int, every: Int): Array[Byte] = {
    val update = ByteBuffer.allocate(HeaderBytes + 8 * length).order(ByteOrder.LITTLE_ENDIAN)
    (0 until length by every).foreach(j => update.putDouble(HeaderBytes + 8 * j, 1.0 + j))
    update.array
  }
}
