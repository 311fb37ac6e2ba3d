package dwell.bulk

import scala.reflect.ClassTag

import org.apache.spark.rdd.RDD

import dwell.spark.Shuffle

/** Shuffles of large pieces. */
private[dwell] object BulkShuffle {

  /** Sends each piece to the partition of its key, which must be in 0 until `numPartitions`, in its format. */
  def byIndex[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int, format: BulkFormat[P]): RDD[P] =
    Shuffle.byUpperHalf(keyed(pieces)(_ => 0), numPartitions, new BulkSerializer(format)).map(_._2)

  /** The same, where each partition receives the pieces in the order of their places, which are at least 0. */
  def inOrder[P: ClassTag](pieces: RDD[(Int, P)], numPartitions: Int, format: BulkFormat[P])(place: P => Int): RDD[P] =
    Shuffle.inOrder(keyed(pieces)(place), numPartitions, new BulkSerializer(format))

  private def keyed[P](pieces: RDD[(Int, P)])(place: P => Int): RDD[(Long, P)] =
    pieces.map { case (k, piece) => (k.toLong << 32 | place(piece), piece) }
}
