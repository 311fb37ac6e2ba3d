package dwell.cluster

import java.util.UUID

import org.apache.spark.Protection
import org.apache.spark.sql.SparkSession

import dwell.report.FitReport

/** Every exchange where Spark authenticates, and encrypts what travels and what lies on disk: the bits of the fit without. */
object EncryptedTest extends Harness {

  private val modes = Seq("driver", "shuffle", "gang")

  private def settings: Seq[(String, String)] = Seq(
    "spark.authenticate" -> "true",
    "spark.authenticate.secret" -> s"${UUID.randomUUID()}",
    "spark.network.crypto.enabled" -> "true",
    "spark.io.encryption.enabled" -> "true")

  def main(args: Array[String]): Unit = {
    val open = session(Seq.empty)
    check(onEach(open)(() => Protection.isOn).values.forall(!_), "it is encrypted")
    val expected = fits(open).map { case (what, fit) => (what, fit()._2) }.toMap
    open.stop()

    val guarded = session(settings)
    test("the executors authenticate and encrypt") {
      check(onEach(guarded)(() => Protection.isOn).values.toSeq == Seq(true, true), "it is not encrypted")
    }
    fits(guarded).foreach { case (what, fit) =>
      test(s"$what, encrypted: the bits of the fit without") {
        val (report, numbers) = fit()
        check(report.solver == "native" && what.endsWith(report.aggregation), report.toText)
        check(numbers == expected(what), "other bits")
        checkNothingLeft(guarded)
      }
    }
    finish(guarded)
  }

  private def session(settings: Seq[(String, String)]): SparkSession = {
    val builder = SparkSession.builder().appName("dwell encryption tests")
    val spark = settings.foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
    waitForExecutors(spark, 2)
    spark
  }

  /** Report and numbers of each fit, by its name, which ends with the mode. */
  private def fits(spark: SparkSession): Seq[(String, () => (FitReport, Seq[Double]))] = {
    val data = problem(spark)
    modes.flatMap { mode =>
      Seq(
        s"ridge regression, aggregation $mode" -> { () =>
          val model = pair(mode).setMaxIter(10).fit(data)
          (FitReport.of(model), model.coefficients.toArray.toSeq :+ model.intercept)
        },
        s"topics, aggregation $mode" -> { () =>
          val model = topics(mode).fit(data)
          (FitReport.of(model), (model.topicsMatrix.toArray ++ model.estimatedDocConcentration.toArray).toSeq)
        })
    }
  }
}
