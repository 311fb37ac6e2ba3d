package dwell.comm.gang

import scala.reflect.ClassTag

import org.apache.spark.{DwellBridge, Partition, TaskContext}
import org.apache.spark.rdd.RDD

import dwell.spark.Locality

/** The same elements, by tasks that have one executor each to prefer, see [[dwell.spark.Locality]]. */
private[gang] final class SpreadTasks[T: ClassTag](data: RDD[T]) extends RDD[T](data) {

  @transient private lazy val locations =
    Locality.balanced(sparkContext, data.partitions.indices.map(p => DwellBridge.holders(data, p).map(_ -> 1L).toMap))

  override protected def getPartitions: Array[Partition] = firstParent[T].partitions

  override def compute(split: Partition, context: TaskContext): Iterator[T] = firstParent[T].iterator(split, context)

  override protected def getPreferredLocations(split: Partition): Seq[String] = locations(split.index)
}
