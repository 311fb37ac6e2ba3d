package dwell.data.block

import org.apache.spark.{DwellBridge, SparkContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.cache.Cached
import dwell.data.groups.{BlockGroups, GroupedBlocks, SourceSize}
import dwell.data.matrix.{BlockIndex, NarrowValues}
import dwell.data.moments.MomentPiece
import dwell.record.HeldBytes
import dwell.spark.Sent

/**
 * Rows, read and validated: blocks cached on the workers, sums on the driver. Rows have numbers over the whole dataset,
 * without those of weight 0.
 *
 * @param facts
 *   what the driver knows of them; at least one source partition has rows
 * @param numFeatures
 *   length of the feature vectors, n, including constant features
 * @param title
 *   name of the cached data on Spark's storage page
 * @param names
 *   names of the DataFrame columns, for error messages
 * @throws IllegalArgumentException
 *   if a sum or a moment of the labels leaves the range of a double
 */
private[data] final class ReadRows(
    blocks: Kept[RowBlock],
    facts: ReadFacts,
    val numFeatures: Int,
    val title: String,
    val names: ColumnNames) {

  private val summaries = facts.summaries

  /** The features that have numbers here; None if all have. */
  def occurring: Option[OccurringFeatures] = names.occurring.map(_.value)

  /** The moments of labels and weights. */
  val labels: LabelMoments = new LabelMoments(summaries.map(_.labels), names)

  /** Where the rows of each source partition begin, and what it held. */
  val index: BlockIndex =
    new BlockIndex(summaries.scanLeft(0L)(_ + _.labels.rows).init.toArray, summaries.map(_.fingerprint).toArray)

  /** The number of rows of positive weight, m. */
  val numRows: Long = summaries.map(_.labels.rows).sum

  /** The number of nonzeros of all rows, including those of constant features. */
  val nonzeros: Long = summaries.map(_.nonzeros).sum

  /** See [[PartitionSummary.densePairs]]. */
  val densePairs: Double = summaries.map(_.densePairs).sum

  /** See [[PartitionSummary.sparsePairs]]. */
  val sparsePairs: Double = summaries.map(_.sparsePairs).sum

  def sc: SparkContext = blocks.sparkContext

  /** The sum of the weights, S. */
  def totalWeight: Double = labels.totalWeight

  private val readBlocks = new ReadBlocks(blocks, index, s"$title: rows on disk")

  /**
   * The blocks of each source partition, in their order. A task fails with [[dwell.spark.InputChangedException]] if a block
   * was read again and differs.
   */
  def verifiedBlocks: RDD[RowBlock] = readBlocks.verified

  /** Moves the blocks from memory to disk if it is short, once datasets hold the rows in forms of their own. */
  def makeRoom(): Unit = readBlocks.makeRoom()

  /**
   * Groups of source partitions that can be partitions as they are, or why there are none: see [[BlockGroups.choose]].
   *
   * @param alike
   *   whether the groups' labels, and the lengths of their rows, must be alike
   */
  def groups(workers: Int, exactly: Boolean, alike: Boolean): Either[String, BlockGroups] =
    BlockGroups.choose(sizes, workers, exactly) { groups =>
      def unlike = AlikeLabels.objection(groups.sources.toSeq.map(_.toSeq.map(summaries(_).labels)), labels)
      if (alike) groups.unevenLengths.orElse(unlike) else None
    }

  /** Why rows that follow one another are too much alike for stochastic gradients; None if they are mixed. */
  def unmixed: Option[String] = AlikeLabels.unmixed(labels)

  /** The size of each source partition. */
  private[data] def sizes: IndexedSeq[SourceSize] =
    summaries.map(s => SourceSize(s.labels.rows, s.nonzeros)).toIndexedSeq

  /** At most so many groups of source partitions, where they were read if that is even enough. */
  def groups(workers: Int): BlockGroups =
    BlockGroups.nearest(sizes, workers, DwellBridge.holders(verifiedBlocks, _), DwellBridge.slotsByExecutor(sc))

  /** See [[GroupedBlocks.areTogether]]. */
  def areTogether(groups: BlockGroups): Boolean = GroupedBlocks.areTogether(verifiedBlocks, groups)

  /** The sum of the weights of each group. */
  def weights(groups: BlockGroups): Array[Double] = groups.sources.map(_.map(summaries(_).labels.weight).sum)

  /** The blocks of each group, without their lineage: see [[dwell.bulk.Kept.held]]. */
  def held(groups: BlockGroups): RDD[() => Iterator[RowBlock]] = readBlocks.held(groups.sources)

  /** The moments of the nonzeros of each feature that has any. */
  def moments: MomentPiece = facts.moments

  /** The weighted mean of each of them over all rows, and its population variance. */
  lazy val (mean, variance) = moments.overRows(numRows, totalWeight)

  /** The bytes that are held as read. */
  def heldAsRead: HeldBytes = {
    val bytes = summaries.map(_.bytes).sum
    HeldBytes(bytes, bytes)
  }

  /** Bytes of a value in the form of a solver, at most. */
  def bytesOfValue: Int = NarrowValues.bytes(summaries.map(_.width).max)

  /** The bytes that are held once a dataset takes so many: as read, too. */
  def heldWith(bytes: Long): HeldBytes = HeldBytes(bytes, bytes + summaries.map(_.bytes).sum)

  /** Whether all labels are 0 or 1. */
  def hasBinaryLabels: Boolean = labels.notBinary.isEmpty

  /**
   * Positions in the moments of the features that are not solved for: constant ones, and those whose variance underflows to 0. Spark
   * treats both as constant.
   */
  lazy val constant: Array[Int] = variance.indices.filter(variance(_) == 0.0).toArray

  /**
   * Positions of the others.
   *
   * @throws IllegalArgumentException
   *   if a variance overflows
   */
  def solved: Array[Int] = {
    val solved = variance.indices.filter(variance(_) != 0.0).toArray
    solved.find(i => variance(i).isNaN || variance(i).isInfinite).foreach { i =>
      throw new IllegalArgumentException(
        s"${names.ofFeature(moments.columns(i))}: the values are so large that their variance is not a " +
          "finite number. Scale the feature down, for example with StandardScaler.")
    }
    solved
  }

  /**
   * The same rows, of which only the features that occur have numbers, if they are few: see [[OccurringFeatures]]. The rows take the
   * place of these ones.
   */
  def narrowed: ReadRows = OccurringFeatures.of(numFeatures, moments.columns).fold(this)(narrowed)

  /**
   * The rows of some folds, in the blocks of all of them.
   *
   * @param facts
   *   what is known of these rows, with the numbers that the features have in the source
   */
  def part(folds: Set[Int], facts: ReadFacts): ReadRows = {
    val own = blocks.part { blocks =>
      var rows = 0L
      blocks.filter(block => folds(block.fold)).map { block =>
        val placed = block.after(rows)
        rows += block.rows
        placed
      }
    }
    new ReadRows(own, occurring.fold(facts)(facts.narrowed), numFeatures, title, names)
  }

  private def narrowed(occurring: OccurringFeatures): ReadRows = {
    val sent = Sent.of(sc, occurring)
    val fewer = Kept.of(blocks.map(_.narrowed(sent.value)), s"$title: rows as read")
    Cached.orRelease(fewer.keep(StorageLevel.MEMORY_AND_DISK), Seq(sent.broadcast)) {
      sc.runJob(fewer, (it: Iterator[RowBlock]) => it.foreach(_ => ()))
      Cached.release(blocks, Seq.empty)
      new ReadRows(fewer, facts.narrowed(occurring), occurring.count, title, names.copy(occurring = Some(sent)))
    }
  }

  /** Releases the cached blocks, if this owns them. */
  def unpersist(): Unit = if (!blocks.isPart) {
    readBlocks.release()
    names.occurring.foreach(_.destroy(sc))
  }
}
