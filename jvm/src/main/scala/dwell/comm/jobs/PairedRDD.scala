package dwell.comm.jobs

import org.apache.spark.{OneToOneDependency, Partition, TaskContext}
import org.apache.spark.rdd.RDD

/**
 * Pairs the one element of each partition of `data` with the element of `other`. Tasks run where the data are: Spark goes
 * through the dependencies in their order, and takes the first preferred location that it finds. (With `zipPartitions`
 * a shuffle that names a host, as it does on few hosts, would pull tasks away from cached data.)
 */
private[comm] final class PairedRDD[D, T](data: RDD[D], other: RDD[T])
    extends RDD[(D, T)](data.sparkContext, Seq(new OneToOneDependency(data), new OneToOneDependency(other))) {
  import PairedRDD._

  override protected def getPartitions: Array[Partition] =
    data.partitions.zip(other.partitions).map { case (one, another) => new Pair(one, another) }

  override def compute(split: Partition, context: TaskContext): Iterator[(D, T)] = {
    val pair = split.asInstanceOf[Pair]
    val beside = other.iterator(pair.other, context).next()
    data.iterator(pair.data, context).take(1).map((_, beside))
  }
}

private object PairedRDD {
  private final class Pair(val data: Partition, val other: Partition) extends Partition {
    override def index: Int = data.index
  }
}
