package dwell.demo

import org.apache.spark.ml.{Pipeline, PipelineModel}
import org.apache.spark.ml.clustering.LocalLDAModel
import org.apache.spark.ml.feature.{CountVectorizer, CountVectorizerModel, RegexTokenizer, StopWordsRemover}
import org.apache.spark.ml.linalg.Vector
import org.apache.spark.mllib.rdd.MLPairRDDFunctions._
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.ml.clustering.LDA
import dwell.record.RoundRecord
import dwell.report.FitReport

/**
 * Topics of package descriptions, by a Pipeline of Spark's own stages and Dwell's LDA; prints the words of each topic, and the
 * packages that are most of all about it.
 *
 * Arguments: the TSV file of packages.py, or `-` where there is none; the number of topics; the folder to write to.
 */
object Topics {
  private val Words = 10
  private val Packages = 4

  /** Passes over the documents. */
  private val Iterations = 10

  /** Those of English, and those of descriptions of packages. */
  private lazy val StopWords =
    StopWordsRemover.loadDefaultStopWords("english") ++ Seq("package", "packages", "provides", "contains", "includes")

  def main(args: Array[String]): Unit = {
    val Array(input, topics, output) = args
    val spark = SparkSession.builder().appName("dwell topics").getOrCreate()
    require(input != "-", "this machine has no apt, whose descriptions of packages are what topics are found in")
    val texts = packages(spark, input).cache()
    val lda = new LDA().setSeed(1L)
    lda.setK(topics.toInt).setMaxIter(Iterations).setSubsamplingRate(1.0)
    val pipeline = new Pipeline().setStages(
      Array(
        // Words begin with a letter: versions and sizes say little of what a package is about.
        new RegexTokenizer().setInputCol("text").setOutputCol("all").setGaps(false).setPattern("[a-z][a-z0-9+]+"),
        new StopWordsRemover().setInputCol("all").setOutputCol("words").setStopWords(StopWords),
        new CountVectorizer().setInputCol("words").setOutputCol("features").setMinDF(5.0).setMaxDF(0.2),
        lda))
    println(s"${texts.count()} descriptions, $topics topics, $Iterations passes over the documents")
    val start = System.nanoTime()
    val fitted = pipeline.fit(texts)
    println(f"the pipeline took ${(System.nanoTime() - start) * 1e-9}%.1f s")
    val model = fitted.stages.last.asInstanceOf[LocalLDAModel]
    val report = FitReport.of(model)
    require(report.solver == "native", s"the demo is to run native code, but the solver was: ${report.solver}")
    println(report.toText.linesIterator.take(5).mkString("\n"))
    println(s"${RoundRecord.header}\n${report.rounds.last.toLine}\n")
    show(fitted, model, texts)
    fitted.write.overwrite().save(s"$output/topics")
    println("pipeline model saved; Spark loads it without Dwell")
    spark.stop()
  }

  private def show(fitted: PipelineModel, model: LocalLDAModel, texts: DataFrame): Unit = {
    val vocabulary = fitted.stages.collectFirst { case counted: CountVectorizerModel => counted.vocabulary }.get
    val topics = model.describeTopics(Words).select("topic", "termIndices").orderBy("topic").collect()
    val about = fitted
      .transform(texts)
      .select("package", "topicDistribution")
      .rdd
      .flatMap { row =>
        row.getAs[Vector](1).toArray.zipWithIndex.map { case (share, topic) =>
          (topic, (share, row.getString(0)))
        }
      }
      .topByKey(Packages)
      .collectAsMap()
    topics.foreach { row =>
      val topic = row.getInt(0)
      println(s"${topic + 1}: ${row.getSeq[Int](1).map(vocabulary).mkString(" ")}")
      println(s"     ${about(topic).map(_._2).mkString(", ")}")
    }
  }

  private def packages(spark: SparkSession, path: String): DataFrame =
    spark.read
      .option("sep", "\t")
      .option("quote", "")
      .schema("package string, section string, size double, text string")
      .csv(path)
      .na
      .drop()
      .select("package", "text")
}
