package dwell.data

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}

import dwell.{Listened, SparkSuite}
import dwell.data.block.LabeledRow
import dwell.data.rows.RowForm
import dwell.problem.Labels

/** What reading and set-up bring to the driver: nothing that grows with rows, nor with features times partitions. */
class DriverShareSuite extends SparkSuite {

  /** The bytes of all task results while `body` runs. */
  private def results(body: => Any): Long = {
    val bytes = new AtomicLong()
    val listener = new SparkListener {
      override def onTaskEnd(task: SparkListenerTaskEnd): Unit = {
        bytes.addAndGet(task.taskMetrics.resultSize)
        ()
      }
    }
    Listened.by(sc, listener)(body)
    bytes.get
  }

  private val form = RowForm(1.0, intercept = true, labels = Labels.Signed)

  /** All that estimators ask of the data before a fit, apart from the labels of the primal form. */
  private def prepare(all: TrainingRows, workers: Int): Unit = {
    all.columns(workers)
    all.scaled(workers, form).holders
    all.scaled(workers, form.copy(mixed = true)).partitions
    all.features(1.0, intercept = true)
    all.scaled(workers, form.copy(labels = Labels.Real)).partitions
    all.labelFacts(Labels.Classes(3))
    ()
  }

  test("with 50 times the rows the results of tasks stay as small") {
    def rows(m: Int): TrainingRows = {
      val data = sc.range(0L, m.toLong, numSlices = 4).map { j =>
        LabeledRow((j % 2).toDouble, 1.0 + j % 3, Vectors.dense(j.toDouble, 1.0, (j % 5).toDouble)).toInternal
      }
      TrainingReader.read(data, 3, "rows")
    }
    def prepared(m: Int): Long = results {
      val all = rows(m)
      try prepare(all, workers = 2)
      finally all.unpersist()
    }
    val (few, many) = (prepared(1000), prepared(50000))
    // One number a row would be 400 kB.
    assert(many - few < 20000, s"$few bytes with 1,000 rows, $many with 50,000")

    val all = rows(50000)
    try {
      val columns = all.columns(2)
      assert(results(columns.partitions.map(_.labels).collect()) > 400000, "what is not wanted shows")
    } finally all.unpersist()
  }

  test("with 4 times the partitions the results of tasks have as many numbers for each feature") {
    val n = 60000
    // One row a partition: every feature is constant within it. The even ones are so in all rows.
    def prepared(partitions: Int): Long = results {
      val data = sc.range(0L, partitions.toLong, numSlices = partitions).map { j =>
        val features = Array.tabulate(n)(i => if (i % 2 == 0) 2.0 else (j + i).toDouble)
        LabeledRow((j % 2).toDouble, 1.0, Vectors.dense(features)).toInternal
      }
      val all = TrainingReader.read(data, n, "features")
      try prepare(all, workers = 2)
      finally all.unpersist()
    }
    val (few, many) = (prepared(4), prepared(16))
    // Twelve more partitions with one Int for each feature would be 2.9 MB.
    assert(many - few < 500000, s"$few bytes with 4 partitions, $many with 16")
  }

  test("with 8 times the workers the holders of features are as many numbers") {
    val n = 400000
    val data = sc.range(0L, 200L, numSlices = 2).map { j =>
      val vector = Vectors.sparse(n, Array(j.toInt, n - 1), Array(1.0 + j, j.toDouble))
      LabeledRow((j % 2).toDouble, 1.0, vector).toInternal
    }
    val all = TrainingReader.read(data, n, "holders")
    try {
      def counted(workers: Int): Long = {
        val rows = all.scaled(workers, form)
        results(rows.holders)
      }
      val (few, many) = (counted(2), counted(16))
      // Fourteen more workers with one bit for each feature would be 700 kB.
      assert(many - few < 300000, s"$few bytes with 2 workers, $many with 16")
    } finally all.unpersist()
  }
}
