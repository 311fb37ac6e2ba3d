package dwell.spark

import org.apache.spark.sql.SparkSession

import dwell.problem.RowUse
import dwell.SparkSuite

/** The number of workers if the user sets none. */
class WorkerCountSuite extends SparkSuite {

  /** Nonzeros that pay for any number of workers, and have room in one array. */
  private val Many = 1L << 30

  /** Runs `body` in a session with two slots, and the given settings. */
  private def withSettings(settings: (String, String)*)(body: SparkSession => Unit): Unit = {
    settings.foreach { case (key, value) => System.setProperty(key, value) }
    try {
      val session = SparkSuite.fresh("local[2]")
      try body(session)
      finally session.stop()
    } finally settings.foreach { case (key, _) => System.clearProperty(key) }
  }

  test("one worker for enough nonzeros, and one at least") {
    assert(Seq(0L, 5L, 19L, 20L, 1000L).map(WorkerCount.choose(sc, _, 0L, 10L)) == Seq(1, 1, 1, 2, 2))
  }

  test("sums over rows are worth more workers, unless the vectors of a round are long") {
    assert(
      WorkerCount.worthAWorker(RowUse.Sums, 28) == 1000000L && WorkerCount.worthAWorker(RowUse.Sums, 28) < WorkerCount
        .worthAWorker(RowUse.Averages, 28))
    assert(
      WorkerCount.worthAWorker(RowUse.Sums, 1 << 20) == 2L << 20 && WorkerCount
        .worthAWorker(RowUse.Sums, Int.MaxValue) == 2L * Int.MaxValue)
  }

  test("workers follow the slots, not the default parallelism") {
    withSettings("spark.default.parallelism" -> "64") { session =>
      val sc = session.sparkContext
      assert(sc.defaultParallelism == 64 && WorkerCount.choose(sc, Many, 0L, 10L) == 2)
    }
  }

  test("as many workers as give each partition room in the memory of a slot") {
    SparkSuite.withMemory(slots = 2, bytes = 20000000L) { session =>
      val sc = session.sparkContext
      val most = WorkerCount.mostBytes(sc).get
      assert(most == 6000000L)
      assert(
        Seq(0L, most, most + 1L, 2L * most, 10L * most).map(WorkerCount.choose(sc, 5L, _, 10L)) == Seq(1, 1, 2, 2, 10))
      assert(WorkerCount.choose(sc, Many, 1L, 10L) == 2, "no fewer than without that")
    }
  }

  test("as many workers as have room for their nonzeros in one array") {
    assert(WorkerCount.choose(sc, 100L * Int.MaxValue, 1L, 10L) >= 100)
  }

  test("a task of two processors takes two of them") {
    withSettings("spark.task.cpus" -> "2") { session =>
      assert(WorkerCount.choose(session.sparkContext, Many, 0L, 10L) == 1)
    }
  }
}
