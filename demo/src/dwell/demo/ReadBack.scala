package dwell.demo

import org.apache.spark.ml.regression.LinearRegressionModel
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{abs, col, max}

/** Loads the model that `Demo` saved in a Spark that does not have our jar, and predicts the same. Argument: the folder. */
object ReadBack {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell demo: read back").getOrCreate()
    val ourJarIsHere = scala.util.Try(Class.forName("dwell.ml.regression.LinearRegression")).isSuccess
    require(!ourJarIsHere, "this session is meant to run without the Dwell jar")
    val model = LinearRegressionModel.load(s"${args(0)}/model")
    val saved = spark.read.parquet(s"${args(0)}/predictions").withColumnRenamed("prediction", "before")
    val worst = model.transform(saved).select(max(abs(col("prediction") - col("before")))).first().getDouble(0)
    require(worst == 0.0, s"predictions differ by $worst")
    println(
      s"read back by a Spark ${spark.version} without our jar: ${model.getClass.getName}, ${model.numFeatures} " +
        s"features, ${saved.count()} predictions, the same to the last bit")
    spark.stop()
  }
}
