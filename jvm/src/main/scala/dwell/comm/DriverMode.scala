package dwell.comm

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

/**
 * The `driver` mode: an exchange is one Spark job. The message travels as one broadcast, the vectors come back as byte
 * arrays (nothing is serialised element by element) and are added on the driver as they arrive.
 *
 * @param data
 *   one element a partition
 * @param headerBytes
 *   bytes before the vector of a contribution
 * @param length
 *   entries of the vector
 */
final class DriverMode[D, M: ClassTag, S: ClassTag](data: RDD[D], headerBytes: Int, length: Int)(
    step: Workers.Step[D, M, S])
    extends Workers[M, S] {

  override def exchange(message: M, shared: Array[Byte], description: String): Gathered[S] =
    Job.described(data, description) {
      val sc = data.sparkContext
      val sent = sc.broadcast((message, shared))
      val gathering = new Gathering[S](data.getNumPartitions, length)
      val localStep = step
      try {
        Job.run(data)(elements => localStep(elements.next(), sent.value._1, sent.value._2)) { (k, c) =>
          val header = Contribution.header(c, headerBytes)
          gathering.add(k, header, Contribution.entries(c, headerBytes, 0, length), c.scalars)
        }
      } finally {
        // The context may be gone when this unwinds after SparkContext.stop, and then so is the broadcast.
        if (!sc.isStopped) sent.destroy()
      }
      gathering.result
    }
}
