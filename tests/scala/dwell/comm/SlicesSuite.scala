package dwell.comm

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.RDDBlockId
import org.scalatest.BeforeAndAfterAll

import dwell.{LimitedSuite, SparkSuite}
import dwell.base.{LittleEndian, SliceBounds}
import dwell.comm.wire.Contribution

/** Vectors that the workers keep in slices, in each mode. */
class SlicesSuite extends LimitedSuite with BeforeAndAfterAll {
  import ReplicasChecks._
  import SlicesSuite._

  private lazy val spark: SparkSession = SparkSuite.fresh(master = "local[8]")
  private def sc = spark.sparkContext

  override def afterAll(): Unit = spark.stop()

  private val fits = new AtomicInteger(1000)

  private def lead[R](mode: String, k: Int, length: Int, fit: Int)(lead: Lead[R]): R =
    led(mode, sc.parallelize(0 until k, k).cache(), fit.toLong, length)(SlicesSuite.step(length)) { workers =>
      try lead(workers)
      finally workers.release()
    }

  /** The number of vectors in slices that executors hold for a fit. */
  private def vectors(fit: Int): Int =
    sc.getPersistentRDDs.values.count(rdd => Option(rdd.name).exists(_.endsWith(s"of fit $fit")))

  private def numbers(text: String): Seq[Double] = text.split(" ").toSeq.filter(_.nonEmpty).map(_.toDouble)

  private def bits(values: Seq[Double]): Seq[Long] = values.map(java.lang.Double.doubleToRawLongBits)

  for (mode <- Modes; (k, length) <- Seq((1, 7), (2, 1), (2, 1003), (3, 20011), (5, 3))) {
    test(s"$mode: $k workers keep vectors of $length in slices, with the bits of a plain sum") {
      val Seq(unasked, zeros, slices, gathered, unread, doubled) =
        lead(mode, k, length, fits.incrementAndGet()) { workers =>
          val sliced = workers.sliced
          // The order of the calls is that of the results.
          Seq(
            sliced.askSlices(Doubled, "slices of nothing").scalars.toSeq,
            sliced.reduceScatter(Sum, reads = true, "sum").scalars.toSeq,
            sliced.askSlices(Doubled, "slices").scalars.toSeq,
            sliced.gatherSlices(Doubled, "gather").scalars.toSeq,
            sliced.reduceScatter(Sum, reads = false, "sum that reads nothing").scalars.toSeq,
            sliced.reduceScatter(Sum, reads = true, "sum of the gathered").scalars.toSeq)
        }
      val nothing = Seq.fill(length)(0.0)
      assert(unasked.flatMap(numbers) == nothing)
      assert((zeros ++ unread).forall(numbers(_) == nothing))
      val sum = ReplicasChecks.sum(Sum, k, length).toSeq
      assert(bits(slices.flatMap(numbers)) == bits(sum))
      assert(slices.map(numbers(_).length) == (0 until k).map(SliceBounds(length, k).size))
      assert(gathered == slices)
      assert(doubled.forall(said => bits(numbers(said)) == bits(sum.map(2.0 * _))))
    }
  }

  for (mode <- Seq("driver", "shuffle")) {
    test(s"$mode: a slice that is lost is reported, and a new sum replaces it") {
      val fit = fits.incrementAndGet()
      lead(mode, 3, 10, fit) { workers =>
        val sliced = workers.sliced
        sliced.reduceScatter(Sum, reads = false, "sum")
        sliced.gatherSlices(Doubled, "gather")
        for (name <- Seq("sum", "vector")) {
          val id = sc.getPersistentRDDs.collectFirst { case (id, rdd) if rdd.name == s"dwell: $name of fit $fit" => id }
          SparkEnv.get.blockManager.removeBlock(RDDBlockId(id.get, 1))
        }
        assert(
          intercept[ModelLostException](sliced.askSlices(Doubled, "lost")).getMessage.startsWith("slices 1 of sum"))
        val e = intercept[ModelLostException](sliced.reduceScatter(Sum, reads = true, "lost"))
        assert(e.getMessage.startsWith("slices 1 of vector"))
        sliced.reduceScatter(Sum, reads = false, "again")
        val again = sliced.askSlices(Doubled, "again").scalars.toSeq
        assert(bits(again.flatMap(numbers)) == bits(ReplicasChecks.sum(Sum, 3, 10).toSeq))
      }
    }

    test(s"$mode: neither files nor blocks of slices become more with the rounds") {
      val fit = fits.incrementAndGet()
      lead(mode, 3, 1003, fit) { workers =>
        for (_ <- 1 to 10) {
          workers.sliced.reduceScatter(Sum, reads = true, "sum")
          workers.sliced.gatherSlices(Doubled, "gather")
          assert(vectors(fit) == 2)
        }
        eventually(assert(SparkEnv.get.blockManager.diskBlockManager.getAllBlocks().count(_.isShuffle) == 0))
      }
      assert(vectors(fit) == 0)
    }
  }
}

private object SlicesSuite {
  private val Sum = 1
  private val Doubled = 2

  /** In a sum, each worker reports the common vector. Otherwise it reports its slice, and doubles it for all. */
  private def step(length: Int): Workers.Step[Int, Int, String] = (k, message, shared) => {
    val numbers = LittleEndian.doubles(shared)
    val c =
      if (message == Sum) ReplicasChecks.step(length)(k, message, shared)
      else Contribution(new Array[Byte](ReplicasChecks.HeaderBytes) ++ LittleEndian.bytes(numbers.map(2.0 * _)), "")
    c.copy(scalars = numbers.mkString(" "))
  }
}
