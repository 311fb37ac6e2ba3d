package dwell.base

import org.apache.spark.sql.SparkSession

import dwell.SparkSuite

/** The number of workers if the user sets none. */
class WorkerCountSuite extends SparkSuite {

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

  test("workers follow the slots, not the default parallelism") {
    withSettings("spark.default.parallelism" -> "64") { session =>
      val sc = session.sparkContext
      assert(sc.defaultParallelism == 64 && WorkerCount.choose(sc, Most, 0L) == 2)
    }
  }

  test("a task of two processors takes two of them") {
    withSettings("spark.task.cpus" -> "2") { session =>
      assert(WorkerCount.choose(session.sparkContext, Most, 0L) == 1)
    }
  }
}
