package dwell.data.block

import org.apache.spark.rdd.RDD

import dwell.data.matrix.IndexRanges
import dwell.data.moments.{MergedMoments, MomentPiece, NativeMoments}
import dwell.spark.{Answers, Shuffle, TaskFailure}

/**
 * What one job says of all rows: it reads them, and nothing looks at them again before the first round.
 *
 * @param summaries
 *   the report of each source partition, in their order
 * @param moments
 *   the moments of all features that have nonzeros
 */
private[data] final class ReadFacts(val summaries: Seq[PartitionSummary], val moments: MomentPiece)

private[data] object ReadFacts {

  /** Numbers of features, counted in each source partition, that the driver merges by itself. */
  private val Few = 1 << 17

  /**
   * Runs the job.
   *
   * @param classified
   *   whether labels are classes
   * @throws dwell.jni.NativeUnavailableException
   *   if an executor cannot load the library
   */
  def of(blocks: RDD[RowBlock], numFeatures: Int, classified: Boolean): ReadFacts = TaskFailure.unwrapped {
    def read(blocks: Iterator[RowBlock]): (PartitionSummary, MomentPiece) = {
      val moments = new NativeMoments(numFeatures)
      val summary = PartitionSummary.of(classified)(blocks.map { block =>
        moments.add(block.matrix, block.labels, block.weights)
        block
      })
      (summary, moments.result)
    }
    if (numFeatures.toLong * blocks.getNumPartitions <= Few) {
      val (summaries, moments) = Answers.of(blocks)(read).toSeq.unzip
      new ReadFacts(summaries, moments.foldLeft(new MergedMoments(0, numFeatures))(_ add _).result)
    } else merged(blocks, numFeatures)(read)
  }

  /** Tasks merge the moments by ranges of features, so that neither a worker nor the driver holds those of all partitions. */
  private def merged(blocks: RDD[RowBlock], numFeatures: Int)(
      read: Iterator[RowBlock] => (PartitionSummary, MomentPiece)): ReadFacts = {
    val ranges = new IndexRanges(numFeatures, blocks.getNumPartitions)
    val facts = blocks.mapPartitions { blocks =>
      val (summary, moments) = read(blocks)
      val pieces: Iterator[(Int, Serializable)] = ranges.cut(moments.columns)(moments.slice)
      pieces ++ Iterator.single(ranges.count -> summary)
    }
    val byRange = Shuffle.inOrder(facts, ranges.count + 1)
    val moments = new Array[MomentPiece](ranges.count)
    var summaries = Seq.empty[PartitionSummary]
    Shuffle.once(byRange) {
      val first = ranges.first _
      val size = ranges.size _
      Answers.each(byRange.mapPartitionsWithIndex((k, facts) => Iterator.single((k, facts)))) { it =>
        val (k, facts) = it.next()
        if (k == ranges.count) facts.collect { case summary: PartitionSummary => summary }.toArray
        else {
          val pieces = facts.collect { case piece: MomentPiece => piece }
          pieces.foldLeft(new MergedMoments(first(k), size(k)))(_ add _).result
        }
      } { (k, answer) =>
        answer match {
          case all: Array[PartitionSummary] => summaries = all.toSeq
          case piece: MomentPiece => moments(k) = piece
        }
      }
    }
    new ReadFacts(summaries, MomentPiece.concat(moments.toSeq))
  }
}
