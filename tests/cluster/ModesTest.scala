package dwell.cluster

import org.apache.spark.sql.SparkSession

import dwell.jni.NativeLoader

/**
 * The same fit in every mode of aggregation. Arguments: the mode in which `auto` should end on this cluster, and where it
 * matters the architectures of its executors.
 */
object ModesTest extends Harness {

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell modes tests").getOrCreate()
    waitForExecutors(spark, 2)
    if (args.length > 1) test(s"executors are of ${args.tail.mkString(" and ")}") {
      val found = onEach(spark) { () =>
        NativeLoader.ensureLoaded()
        System.getProperty("os.arch")
      }
      check(found.values.toSeq.sorted == args.tail.toSeq.sorted, found.toString)
    }
    modesAgree(problem(spark), args.head)
    finish(spark)
  }
}
