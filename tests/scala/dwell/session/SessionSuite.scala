package dwell.session

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.sql.SparkSession

import dwell.{Listened, SparkSuite}
import dwell.ml.regression.LinearRegression

/** What a session reads of its own fits, with the tags that a server of Spark Connect sets. */
class SessionSuite extends SparkSuite {

  private val data = Seq.tabulate(20)(i => (i.toDouble, Vectors.dense(i.toDouble % 3)))

  private def tag(number: Int): String = f"dwell-$number%032x"

  private def active[T](session: SparkSession)(body: => T): T = {
    SparkSession.setActiveSession(session)
    try body
    finally SparkSession.setActiveSession(spark)
  }

  /** Fits in a session, as a server does for the operation of a client that sets tags. */
  private def fit(session: SparkSession, tags: String*): LinearRegression = active(session) {
    val all = "SparkConnect_OperationTag_User_u_Session_s_Operation_o" +:
      tags.map(tag => s"SparkConnect_SessionTag_User_u_Session_s_Tag_$tag")
    val estimator = new LinearRegression().setNumWorkers(1)
    all.foreach(sc.addJobTag)
    try estimator.fit(session.createDataFrame(data).toDF("label", "features"))
    finally all.foreach(sc.removeJobTag)
    estimator
  }

  private def read(session: SparkSession, fit: String*): Seq[Seq[String]] = {
    val reader = session.read.format("dwell.session.Reports")
    fit.foreach(reader.option("fit", _))
    reader.load().select("fit", "uid", "json").collect().map(_.toSeq.map(_.toString)).toSeq
  }

  test("a session reads the reports of its own fits, by their tags, without a job") {
    val (one, other) = (spark.newSession(), spark.newSession())
    val (first, second) = (fit(one, "mine", tag(1)), fit(one))
    val third = fit(other, tag(1))
    assert(read(one).map(_.take(2)) == Seq(Seq(tag(1), first.uid), Seq("", second.uid)))
    assert(read(one, tag(1)).map(_(1)) == Seq(first.uid) && read(one, tag(2)).isEmpty)
    assert(read(other, tag(1)).map(_(1)) == Seq(third.uid))
    assert(Listened.jobs(sc)(read(one)) == 0)
    assert(read(one).head.last.contains("\"solver\":\"native\""))
    val page = one.read.format("dwell.session.Reports").load().select("page", "text").head()
    assert(page.getString(0).startsWith("<!DOCTYPE html>") && page.getString(1).contains(first.uid))
  }

  test("fits that no client asks for are not kept") {
    val session = spark.newSession()
    active(session)(new LinearRegression().fit(session.createDataFrame(data).toDF("label", "features")))
    assert(read(session).isEmpty)
  }

  test("the last hundred reports are kept") {
    val session = spark.newSession()
    val first = fit(session, tag(0))
    val report = SessionReports.of(session).head.report
    active(session) {
      sc.addJobTag("SparkConnect_OperationTag")
      try {
        for (_ <- 0 until 100) SessionReports.keep(report)
      } finally sc.removeJobTag("SparkConnect_OperationTag")
    }
    assert(
      SessionReports.of(session).size == 100 && read(session, tag(0)).isEmpty && read(session).head(1) == first.uid)
  }

  test("a session that asks is told of its own fits") {
    def ask(session: SparkSession): String =
      session.read.format("dwell.session.Progress").load().head().getString(0)
    val (one, other) = (spark.newSession(), spark.newSession())
    assert(ask(one) == "[]" && ask(other) == "[]")
    val uid = Listened.by(sc, new SparkListener {})(fit(one)).uid
    assert(ask(other) == "[]")
    val told = ask(one)
    assert(told.contains(uid) && told.contains("\"ended\":true"), told)
    assert(ask(one) == "[]")
  }
}
