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
private[data] final class ReadFacts(val summaries: Seq[PartitionSummary], val moments: MomentPiece) {

  /** The same facts, with the numbers that the features have among those that occur. */
  def narrowed(occurring: OccurringFeatures): ReadFacts =
    new ReadFacts(summaries, moments.numbered(moments.columns.map(occurring.position)))
}

private[data] object ReadFacts {

  /** Numbers of features, counted in each source partition, that the driver merges by itself. */
  private val Few = 1 << 17

  /**
   * The facts of all rows: see [[byFold]].
   */
  def of(blocks: RDD[RowBlock], numFeatures: Int, classified: Boolean): ReadFacts =
    byFold(blocks, numFeatures, classified, 1, Seq(Set(0))).head

  /**
   * Runs the job. It takes the moments of each fold; those of several folds are their sums.
   *
   * @param classified
   *   whether labels are classes
   * @param sets
   *   sets of folds; the first one has all of them
   * @return
   *   the facts of the rows of each set
   * @throws dwell.jni.NativeUnavailableException
   *   if an executor cannot load the library
   */
  def byFold(
      blocks: RDD[RowBlock],
      numFeatures: Int,
      classified: Boolean,
      folds: Int,
      sets: Seq[Set[Int]]): Seq[ReadFacts] = TaskFailure.unwrapped {
    def read(blocks: Iterator[RowBlock]): Of = {
      val moments = Array.fill(folds)(new NativeMoments(numFeatures, folds))
      val summaries = blocks.foldLeft(sets.map(_ => PartitionSummary.NoBlocks)) { (summaries, block) =>
        moments(block.fold).add(block.matrix, block.labels, block.weights)
        val labels = LabelSummary.of(block.labels, block.weights, classified)
        summaries.zip(sets).map { case (summary, set) => if (set(block.fold)) summary.and(block, labels) else summary }
      }
      new Of(summaries, moments.map(_.result))
    }
    val (summaries, moments) =
      if (numFeatures.toLong * folds * blocks.getNumPartitions <= Few) {
        val found = Answers.of(blocks)(read).toSeq
        val moments = Seq.tabulate(folds)(fold => sum(numFeatures, found.map(_.moments(fold))))
        (found.map(_.summaries), moments)
      } else merged(blocks, numFeatures, folds)(read)
    sets.zipWithIndex.map { case (set, s) =>
      val own = moments.indices.filter(set).map(moments(_))
      new ReadFacts(summaries.map(_(s)), if (own.size == 1) own.head else sum(numFeatures, own))
    }
  }

  private def sum(numFeatures: Int, moments: Seq[MomentPiece]): MomentPiece =
    moments.foldLeft(new MergedMoments(0, numFeatures))(_ add _).result

  /** Tasks merge the moments by ranges of features, so that neither a worker nor the driver holds those of all partitions. */
  private def merged(blocks: RDD[RowBlock], numFeatures: Int, folds: Int)(
      read: Iterator[RowBlock] => Of): (Seq[Seq[PartitionSummary]], Seq[MomentPiece]) = {
    val ranges = new IndexRanges(numFeatures, blocks.getNumPartitions)
    val facts = blocks.mapPartitionsWithIndex { (partition, blocks) =>
      val found = read(blocks)
      val pieces: Iterator[(Int, Serializable)] = found.moments.iterator.zipWithIndex.flatMap { case (moments, fold) =>
        ranges.cut(moments.columns)(moments.slice).map { case (k, piece) =>
          k -> new Piece(partition, found.summaries.head.fingerprint, fold, piece)
        }
      }
      pieces ++ Iterator.single(ranges.count -> new Of(found.summaries, Array.empty))
    }
    val byRange = Shuffle.inOrder(facts, ranges.count + 1).mapPartitionsWithIndex { (k, facts) =>
      Iterator.single(
        if (k == ranges.count) facts.collect { case of: Of => of }.toArray
        else Range.of(ranges.first(k), ranges.size(k), folds, facts.collect { case piece: Piece => piece }))
    }
    val found = new Array[Range](ranges.count)
    var reports = Array.empty[Of]
    Shuffle.once(byRange) {
      Answers.each(byRange)(_.next()) {
        case (_, all: Array[Of]) => reports = all
        case (k, range: Range) => found(k) = range
      }
    }
    val summaries = reports.toSeq.map(_.summaries)
    (summaries, of(summaries.map(_.head), found.toSeq, folds))
  }

  /**
   * The moments of each fold, from those of all ranges.
   *
   * @throws dwell.spark.InputChangedException
   *   if a source partition was read again meanwhile, since an executor was lost, and held other rows
   */
  private[block] def of(summaries: Seq[PartitionSummary], ranges: Seq[Range], folds: Int): Seq[MomentPiece] = {
    for (range <- ranges; (partition, fingerprint) <- range.read) {
      if (fingerprint != summaries(partition).fingerprint) BlockIndex.changed(partition)
    }
    Seq.tabulate(folds)(fold => MomentPiece.concat(ranges.map(_.moments(fold))))
  }

  /** A source partition: the summary of each set of folds, the moments of each fold. */
  private final class Of(val summaries: Seq[PartitionSummary], val moments: Array[MomentPiece]) extends Serializable

  /**
   * Moments of a range of features in the rows of a fold of one source partition, and the fingerprint of all of its rows when they were
   * taken.
   */
  private[block] final class Piece(val partition: Int, val fingerprint: Long, val fold: Int, val moments: MomentPiece)
      extends Serializable

  /**
   * The merged moments of a range of features.
   *
   * @param read
   *   number and fingerprint of the source partitions that have nonzeros there
   * @param moments
   *   of each fold
   */
  private[block] final class Range(val read: Array[(Int, Long)], val moments: Array[MomentPiece]) extends Serializable

  private[block] object Range {

    /** The range of `length` features from `first` on, from pieces in the order of their source partitions. */
    def of(first: Int, length: Int, folds: Int, pieces: Iterator[Piece]): Range = {
      val merged = Array.fill(folds)(new MergedMoments(first, length))
      val read = pieces.map { piece =>
        merged(piece.fold).add(piece.moments)
        (piece.partition, piece.fingerprint)
      }.toArray
      new Range(read, merged.map(_.result))
    }
  }
}
