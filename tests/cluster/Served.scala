package dwell.cluster

import scala.util.Try

import org.apache.spark.ml.clustering.LocalLDAModel
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.sql.SparkSession

/** Loads a model of topics and queries it, in a session that has only Spark's own classes. Argument: the path of the
 * model. */
object Served {

  /** The start of the line with the answers. */
  val Prefix = "answers: "

  def main(args: Array[String]): Unit = {
    val Array(path) = args
    val spark = SparkSession.builder().appName("dwell: a model that was saved").getOrCreate()
    require(Try(Class.forName("dwell.ml.clustering.LDA")).isFailure, "this session is meant to run without Dwell")
    println(Prefix + answers(spark, LocalLDAModel.load(path)))
    spark.stop()
  }

  /** Everything that a model reports about itself and a few documents, to the last digit, in one line. */
  def answers(spark: SparkSession, model: LocalLDAModel): String = {
    val documents =
      (0 until 3).map(i => Tuple1(Vectors.sparse(model.vocabSize, Seq((i, 2.0), (40 * i + 7, 1.0))): Vector))
    val data = spark.createDataFrame(documents).toDF("features")
    val distributions = model.transform(data).select("topicDistribution").collect().map(_.getAs[Vector](0))
    val topics = model.describeTopics(5).collect().map(_.toSeq.mkString(" "))
    (Seq(model.logPerplexity(data), model.topicsMatrix.toArray.toSeq.hashCode, model.estimatedDocConcentration) ++
      distributions ++ topics).mkString("; ")
  }
}
