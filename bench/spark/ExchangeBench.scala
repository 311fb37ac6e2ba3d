package dwell.bench

import java.nio.ByteBuffer

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

import dwell.comm.{Contribution, DriverMode, Gang, ShuffleMode, Workers}

/**
 * Milliseconds of one exchange in each mode of aggregation: a vector goes to every worker, one comes back from each, and they
 * are added. The workers do nothing else. One worker on each executor.
 */
object ExchangeBench {

  private val Lengths = Seq(1000, 20000, 200000, 1000000)
  private val WarmUp = 20
  private val Exchanges = 40
  private val HeaderBytes = 512
  private val Modes = Seq("driver", "shuffle", "gang")

  def main(args: Array[String]): Unit = Bench.run("exchange bench", args) { bench =>
    val spark = bench.spark
    val data = spark.sparkContext.parallelize(0 until Executors, Executors).cache()
    data.count()
    for (length <- Lengths) {
      val fits = for (_ <- 1 to bench.repetitions; mode <- Modes) yield mode -> milliseconds(spark, data, mode, length)
      for (mode <- Modes) {
        val medians = fits.collect { case (m, times) if m == mode => Bench.median(times) }
        println(f"$length%8d doubles, $mode%-7s median ${Bench
            .median(medians)}%.2f ms of ${medians.map(m => f"$m%.2f").mkString(" ")}")
        bench.add("length" -> length, "workers" -> Executors, "mode" -> mode, "milliseconds" -> medians)
      }
    }
  }

  private val Executors = 2

  /** Of each exchange in a mode, but for the first ones. */
  private[bench] def milliseconds(spark: SparkSession, data: RDD[Int], mode: String, length: Int): Seq[Double] =
    mode match {
      case "driver" => timed(new DriverMode(data, HeaderBytes, length)(step(length)), length)
      case "shuffle" => timed(new ShuffleMode(data, HeaderBytes, length)(step(length)), length)
      case "gang" =>
        val name = s"dwell-exchange-bench-${System.nanoTime()}"
        Gang.run(data, name, HeaderBytes, length, 10000L)(step(length))((workers: Workers[Int, Int], _) =>
          timed(workers, length))(_ => ())
    }

  private def timed(workers: Workers[Int, Int], length: Int): Seq[Double] = {
    val shared = new Array[Byte](8 * length)
    val times = (1 to WarmUp + Exchanges).map(i => Bench.timed(workers.exchange(i, shared, "exchange")).seconds * 1e3)
    times.drop(WarmUp)
  }

  private def step(length: Int): Workers.Step[Int, Int, Int] = (worker, message, _) =>
    Contribution(ByteBuffer.allocate(HeaderBytes + 8 * length).putInt(worker).array, message)
}
