package dwell.bulk

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

import dwell.spark.Shuffle

/** Shuffles of large pieces. */
private[dwell] object BulkShuffle {

  /** Sends each piece to the partition of its key, which must be in 0 until `numPartitions`, in its format. */
  def byIndex[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int, format: BulkFormat[P]): RDD[(Int, P)] =
    Shuffle.byIndex(pieces, numPartitions, new BulkSerializer(format))

  /** One result for each partition number, of the pieces of two shuffles by the same numbers. */
  def together[A, B: ClassTag, R: ClassTag](one: RDD[(Int, A)], other: RDD[(Int, B)])(
      result: (Int, Iterator[A], Iterator[B]) => R): RDD[R] =
    one.mapPartitionsWithIndex((k, pieces) => Iterator.single((k, pieces))).zipPartitions(other) { (numbered, others) =>
      numbered.map { case (k, pieces) => result(k, pieces.map(_._2), others.map(_._2)) }
    }
}
