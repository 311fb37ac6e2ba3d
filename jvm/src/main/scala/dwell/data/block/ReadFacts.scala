package dwell.data.block

import org.apache.spark.rdd.RDD

import dwell.data.matrix.{BlockIndex, IndexRanges}
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
    val facts = blocks.mapPartitionsWithIndex { (partition, blocks) =>
      val (summary, moments) = read(blocks)
      val pieces: Iterator[(Int, Serializable)] = ranges
        .cut(moments.columns)(moments.slice)
        .map { case (k, piece) => k -> new Piece(partition, summary.fingerprint, piece) }
      pieces ++ Iterator.single(ranges.count -> summary)
    }
    val byRange = Shuffle.inOrder(facts, ranges.count + 1).mapPartitionsWithIndex { (k, facts) =>
      Iterator.single(
        if (k == ranges.count) facts.collect { case summary: PartitionSummary => summary }.toArray
        else Range.of(ranges.first(k), ranges.size(k), facts.collect { case piece: Piece => piece }))
    }
    val found = new Array[Range](ranges.count)
    var summaries = Seq.empty[PartitionSummary]
    Shuffle.once(byRange) {
      Answers.each(byRange)(_.next()) {
        case (_, all: Array[PartitionSummary]) => summaries = all.toSeq
        case (k, range: Range) => found(k) = range
      }
    }
    of(summaries, found.toSeq)
  }

  /**
   * The facts, from the moments of all ranges.
   *
   * @throws dwell.spark.InputChangedException
   *   if a source partition was read again meanwhile, since an executor was lost, and held other rows
   */
  private[block] def of(summaries: Seq[PartitionSummary], ranges: Seq[Range]): ReadFacts = {
    for (range <- ranges; (partition, fingerprint) <- range.read) {
      if (fingerprint != summaries(partition).fingerprint) BlockIndex.changed(partition)
    }
    new ReadFacts(summaries, MomentPiece.concat(ranges.map(_.moments)))
  }

  /** Moments of a range of features in one source partition, and the fingerprint of the rows that they were taken of. */
  private[block] final class Piece(val partition: Int, val fingerprint: Long, val moments: MomentPiece)
      extends Serializable

  /**
   * The merged moments of a range of features.
   *
   * @param read
   *   number and fingerprint of the source partitions that have nonzeros there
   */
  private[block] final class Range(val read: Array[(Int, Long)], val moments: MomentPiece) extends Serializable

  private[block] object Range {

    /** The range of `length` features from `first` on, from pieces in the order of their source partitions. */
    def of(first: Int, length: Int, pieces: Iterator[Piece]): Range = {
      val merged = new MergedMoments(first, length)
      val read = pieces.map { piece =>
        merged.add(piece.moments)
        (piece.partition, piece.fingerprint)
      }.toArray
      new Range(read, merged.result)
    }
  }
}
