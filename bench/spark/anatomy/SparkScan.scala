package dwell.bench.anatomy

import org.apache.spark.sql.DataFrame

import dwell.bench.Bench

/** What reading is measured by: Spark's own scan of the same columns, into a sink that drops them. */
private[bench] object SparkScan {
  def seconds(frame: DataFrame, columns: Seq[String]): Double =
    Bench.timed(frame.select(columns.head, columns.tail: _*).write.format("noop").mode("overwrite").save()).seconds
}
