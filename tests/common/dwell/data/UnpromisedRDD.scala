package org.apache.spark

import scala.reflect.ClassTag

import org.apache.spark.rdd.{DeterministicLevel, RDD}

/**
 * Elements whose order Spark does not promise when they are computed again, as after a shuffle.
 *
 * @param change
 *   whether Spark does not promise the elements either
 */
final class UnpromisedRDD[T: ClassTag](elements: RDD[T], change: Boolean) extends RDD[T](elements) {
  override protected def getPartitions: Array[Partition] = firstParent[T].partitions
  override def compute(split: Partition, context: TaskContext): Iterator[T] = firstParent[T].iterator(split, context)
  override protected def getOutputDeterministicLevel: DeterministicLevel.Value =
    if (change) DeterministicLevel.INDETERMINATE else DeterministicLevel.UNORDERED
}
