package dwell.ml

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.DataFrame

import dwell.{Listened, SparkSuite}
import dwell.data.TestData
import dwell.ml.classification.LogisticRegression
import dwell.ml.clustering.LDA
import dwell.record.RoundCompleted
import dwell.report.FitReport
import dwell.spark.InputChangedException

/** Sources that give other rows when Spark reads them again in the middle of a fit. */
class ChangedInputSuite extends SparkSuite {
  import ChangedInputSuite._

  /** Rows whose label and counts depend on how often the source has changed. */
  private def source: DataFrame = {
    val rows = sc.parallelize(0 until 400, 20).map { i =>
      val version = changes.get
      val x: Vector = Vectors.sparse(12, Seq((i % 5, 1.0 + version), (5 + (i * i) % 7, 2.0)))
      ((if ((i + version) % 3 == 0) 1.0 else 0.0), x)
    }
    spark.createDataFrame(rows).toDF("label", "features")
  }

  /** Runs a fit whose data is lost after a round, in the first `losses` attempts. The source has changed by then. */
  private def losing(losses: Int)(fit: DataFrame => FitReport): FitReport = {
    changes.set(0)
    val left = new AtomicInteger(losses)
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case RoundCompleted(_, r) if r.round == 2 && left.getAndDecrement() > 0 =>
          changes.incrementAndGet()
          TestData.loseCached(sc)
        case _ =>
      }
    }
    Listened.by(sc, listener)(fit(source))
  }

  private val fits = Seq[(String, DataFrame => FitReport)](
    "a linear model" -> { data =>
      FitReport.of(
        new LogisticRegression()
          .setAlgorithm("ma-sgd")
          .setAggregation("driver")
          .setNumWorkers(1)
          .setRegParam(0.01)
          .setTol(0.0)
          .setMaxIter(200)
          .fit(data))
    },
    "topics" -> { data =>
      val lda = new LDA().setAggregation("driver").setNumWorkers(1)
      lda.setK(2).setMaxIter(200).setSubsamplingRate(0.5).setSeed(3L)
      FitReport.of(lda.fit(data))
    })

  for ((name, fit) <- fits) {
    test(s"$name begins again from rows that have changed once") {
      val report = losing(1)(fit)
      assert(changes.get == 1)
      val expected = fit(source)
      assert(math.abs(report.objective - expected.objective) <= 1e-9 * math.abs(expected.objective))
      assert(report.rounds.last.round == expected.rounds.last.round)
    }

    test(s"$name: rows that change again are an error") {
      val e = intercept[InputChangedException](losing(2)(fit))
      assert(e.getMessage.contains("not deterministic") && changes.get == 2)
      assert(sc.getPersistentRDDs.values.forall(rdd => !Option(rdd.name).exists(_.contains(": "))))
    }
  }
}

private object ChangedInputSuite {

  /** The tasks of local mode share this counter. */
  private val changes = new AtomicInteger()
}
