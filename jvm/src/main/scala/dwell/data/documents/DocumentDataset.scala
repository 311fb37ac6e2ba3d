package dwell.data.documents

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.RowOrder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{BadRow, BlockGroups, GroupedBlocks, Placement, ReadBlocks, SourceSize}
import dwell.data.cache.{Cached, CachedDataset}
import dwell.data.matrix.{BlockIndex, ExcludedFeatures, MatrixBlock, PartitionForm}
import dwell.data.merge.{BlockRows, DealtRows, MatrixMerge, MatrixPiece, PartitionMatrix, VectorSizes, WholeBlocks}
import dwell.record.HeldBytes
import dwell.spark.{Answers, WorkerCount}

/**
 * Documents as counts of words, read and validated, split into partitions of about equally much work.
 *
 * @param partitions
 *   one [[DocumentPartition]] in each Spark partition
 * @param vocabulary
 *   number of words of the vocabulary, V
 * @param documentsPerPartition
 *   number of documents of each partition, without those that have no words
 * @param placement
 *   how the documents came to their partitions, and why
 * @param moveSeconds
 *   the time that it took to move the documents to their partitions, once they were read
 */
final class DocumentDataset private (
    blocks: ReadBlocks[MatrixBlock],
    partitions: Kept[DocumentPartition],
    val vocabulary: Int,
    val documentsPerPartition: Array[Int],
    nonzerosPerPartition: Array[Long],
    held: HeldBytes,
    broadcasts: Seq[Broadcast[_]],
    isShuffled: Boolean,
    val placement: String,
    val moveSeconds: Double)
    extends CachedDataset[DocumentPartition](partitions, isShuffled, nonzerosPerPartition, held, broadcasts) {

  /** The number of documents of all partitions, D. */
  def documents: Long = documentsPerPartition.map(_.toLong).sum

  /** The number of partitions that have documents. */
  def workers: Int = documentsPerPartition.count(_ > 0)

  override def unpersist(): Unit = synchronized {
    // Shuffle files are a copy of all data. Cleaning stops at blocks that Spark keeps, as it does after a shuffle: it must
    // not reach the user's own shuffles.
    if (!isReleased && !partitions.sparkContext.isStopped && isShuffled) partitions.cleanShuffleDependencies()
    super.unpersist()
    blocks.release()
  }
}

/** There are documents, and none has a word. Spark's own code makes a model of them. */
final class NoWordsException(message: String) extends IllegalArgumentException(message)

object DocumentDataset {

  /**
   * Reads and validates documents in one pass, puts partitions together, and caches them. The caller must release the
   * data with `unpersist`.
   *
   * Where groups of source partitions have their shares of any stretch of the documents, they are the partitions, and
   * documents stay where they are. Topics of partitions are averaged, so all partitions must have documents of all
   * subjects. What is known of a source partition, documents and nonzeros, does not tell subjects, and documents of a
   * subject often stand together. Otherwise a fixed hash of a document's number chooses its partition, as for the rows of
   * linear models.
   *
   * @param vectors
   *   rows in Spark's own format; the first column is the vector of a document's counts, by word. Read once, unless
   *   cached data is lost
   * @param vocabulary
   *   length that every vector must have
   * @param numWorkers
   *   number of partitions; those beyond the number of documents stay empty. 0: [[dwell.spark.WorkerCount]] chooses it,
   *   and fewer if the documents can then stay
   * @param title
   *   name of the cached data on Spark's storage page
   * @param column
   *   name of the DataFrame column, for error messages
   * @throws IllegalArgumentException
   *   if the data is not fit for training; the message names the column, the row and the fix
   * @throws NoWordsException
   *   if there are documents, and all are empty
   */
  def read(
      vectors: RDD[InternalRow],
      vocabulary: Int,
      numWorkers: Int,
      title: String,
      column: String = "features"): DocumentDataset = {
    require(numWorkers >= 0, s"The number of workers must not be negative, but was $numWorkers")
    def read(vectors: RDD[InternalRow]) =
      vectors.mapPartitionsWithIndex((partition, it) => DocumentReader.read(partition, vocabulary, it, column))
    val blocks = Kept.of(read(RowOrder.fixed(vectors)), s"$title: documents as read").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(blocks, Seq.empty) {
      val summaries = Answers.of(blocks)(summary)
      BadRow.raise(vectors, summaries.toSeq.map(_.problem))(read)
      val source = Source(vocabulary, title, column, RowOrder.repeats(vectors))
      distribute(blocks, summaries, source, numWorkers)
    }
  }

  /**
   * What is known of the documents before they are read.
   *
   * @param repeatable
   *   see [[dwell.data.block.ReadBlocks]]
   */
  private final case class Source(vocabulary: Int, title: String, column: String, repeatable: Boolean)

  private def distribute(
      blocks: Kept[MatrixBlock],
      read: Array[Summary],
      source: Source,
      numWorkers: Int): DocumentDataset = {
    val numDocuments = read.map(_.documents).sum
    checkCount(read.map(_.rowsRead).sum, numDocuments, source.column)
    val moved = System.nanoTime()
    val index = new BlockIndex(read.scanLeft(0L)(_ + _.documents).init, read.map(_.fingerprint))
    val readBlocks = new ReadBlocks(blocks, index, s"${source.title}: documents on disk", source.repeatable)
    val numNonzeros = read.map(_.nonzeros).sum
    val workers =
      if (numWorkers > 0) numWorkers
      else WorkerCount.choose(blocks.sparkContext, numNonzeros, MostBytesOfNonzero * numNonzeros, NonzerosWorthAWorker)
    val sizes = read.map(s => SourceSize(s.documents, s.nonzeros)).toIndexedSeq
    val groups = BlockGroups.choose(sizes, workers, exactly = numWorkers > 0)(unlike)
    val (merged, broadcasts) = groups match {
      case Right(groups) => left(readBlocks.verified, groups, index, source.vocabulary)
      case Left(_) => (dealt(readBlocks.verified, workers, index, numDocuments, source.vocabulary), Seq.empty)
    }
    val partitions = Kept.of(merged, s"${source.title}: documents").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(partitions, broadcasts) {
      val held = Answers.of(partitions)(it => sizesOf(it.next()))
      broadcasts.foreach(_.unpersist()) // until a partition is lost
      if (groups.isRight) readBlocks.drop() else readBlocks.makeRoom()
      val bytes = held.map(_._3).sum
      new DocumentDataset(
        readBlocks,
        partitions,
        source.vocabulary,
        held.map(_._1),
        held.map(_._2),
        HeldBytes(bytes, bytes + read.map(_.bytes).sum),
        broadcasts,
        groups.isLeft,
        groups.fold(Placement.dealt, _ => Placement.left),
        (System.nanoTime() - moved) * 1e-9)
    }
  }

  /** Why topics of these groups cannot be averaged; None if they can. */
  private def unlike(groups: BlockGroups): Option[String] =
    groups.unevenLengths.orElse {
      if (groups.unevenness <= MostUneven) None
      else Some("documents of a subject may stand together, and the source has too few partitions to deal these out")
    }

  /** Partitions of whole blocks, and what tasks need to compute them. */
  private def left(
      blocks: RDD[MatrixBlock],
      groups: BlockGroups,
      index: BlockIndex,
      vocabulary: Int): (RDD[DocumentPartition], Seq[Broadcast[_]]) = {
    val numPartitions = groups.count
    val grouped = new GroupedBlocks(blocks, groups)
    val merged = grouped.mapPartitionsWithIndex { (k, group) =>
      group.map { blocks =>
        val sizes = blocks().map(b => VectorSizes.whole(b, index.firstRow(b), ExcludedFeatures.None)).toArray
        val rows = new BlockRows(k, numPartitions, sizes.map(_.firstRow), sizes.map(_.blockRows), mixed = false)
        val choice = PartitionForm.Choice.Sparse
        partition(k, vocabulary, WholeBlocks.together(rows, blocks, sizes, ExcludedFeatures.None, vocabulary, choice))
      }
    }
    (merged, grouped.broadcasts)
  }

  /** Partitions of documents that a shuffle deals to them. */
  private def dealt(
      blocks: RDD[MatrixBlock],
      numPartitions: Int,
      index: BlockIndex,
      numDocuments: Long,
      vocabulary: Int): RDD[DocumentPartition] = {
    val sizes = blocks.flatMap { block =>
      VectorSizes
        .of(block, index.firstRow(block), ExcludedFeatures.None, numPartitions)
        .iterator
        .zipWithIndex
        .map(_.swap)
    }
    val pieces = blocks.flatMap { block =>
      MatrixPiece.cut(block, index.firstRow(block), ExcludedFeatures.None, numPartitions)
    }
    BulkShuffle.together(
      BulkShuffle.byIndex(sizes, numPartitions, VectorSizes),
      BulkShuffle.byIndex(pieces, numPartitions, MatrixPiece)) { (k, sizes, pieces) =>
      val rows = new DealtRows(k, numPartitions, numDocuments, mixed = false)
      val matrix = new MatrixMerge(rows, vocabulary, PartitionForm.Choice.Sparse, sizes)
      pieces.foreach(matrix.add)
      partition(k, vocabulary, matrix.result)
    }
  }

  private def partition(k: Int, vocabulary: Int, matrix: PartitionMatrix): DocumentPartition =
    new DocumentPartition(k, vocabulary, matrix.offsets, matrix.indices, matrix.values.values32, matrix.values.values64)

  private def checkCount(read: Long, documents: Long, column: String): Unit = {
    if (read == 0L) {
      throw new IllegalArgumentException(
        s"There are no documents to train on (column '$column'). Check the filters and joins that the DataFrame came from.")
    }
    if (documents == 0L) {
      throw new NoWordsException(
        s"no document of column '$column' has a word: check the vocabulary that the words were counted by")
    }
  }

  /** A source partition's report to the driver; `documents` counts those with words. */
  private final case class Summary(
      rowsRead: Long,
      documents: Long,
      nonzeros: Long,
      bytes: Long,
      fingerprint: Long,
      problem: String)

  private def summary(blocks: Iterator[MatrixBlock]): Summary =
    blocks.foldLeft(Summary(0L, 0L, 0L, 0L, BlockIndex.NoBlocks, null)) { (sum, block) =>
      Summary(
        sum.rowsRead + block.rowsRead,
        sum.documents + block.rows,
        sum.nonzeros + block.nonzeros,
        sum.bytes + block.bytes,
        BlockIndex.fingerprint(sum.fingerprint, block),
        block.problem)
    }

  /** The numbers of documents, nonzeros and bytes. */
  private def sizesOf(p: DocumentPartition): (Int, Long, Long) = (p.documents, p.nonzeros.toLong, p.bytes)

  /** See [[dwell.data.block.BlockGroups.unevenness]]. A worker then has a fifth of its documents too many of a subject at most. */
  private val MostUneven = 0.1

  /** A word and its count. */
  private val MostBytesOfNonzero = 12L

  /** About a third of a second of work in a pass over the documents. A round is a part of a pass. */
  private val NonzerosWorthAWorker = 1000000L
}
