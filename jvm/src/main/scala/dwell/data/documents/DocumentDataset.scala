package dwell.data.documents

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.RowOrder
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.bulk.Kept
import dwell.data.block.{BadRow, ReadBlocks}
import dwell.data.cache.Cached
import dwell.data.groups.{BlockGroups, GroupedBlocks, Placement, SourceSize}
import dwell.data.matrix.{BlockIndex, MatrixBlock}
import dwell.data.merge.{DealtBlocks, PickedMatrix, RowDistribution}
import dwell.record.HeldBytes
import dwell.spark.{Answers, WorkerCount}

/**
 * Documents as counts of words, read and validated, in groups of whole partitions of blocks of about equally much work: one for each
 * worker.
 *
 * @param blocks
 *   the blocks of each partition, kept
 * @param kept
 *   the blocks of each group, without their lineage: see [[dwell.bulk.Kept.held]]
 * @param vocabulary
 *   number of words of the vocabulary, V
 * @param placement
 *   how the documents came to their workers, and why
 * @param held
 *   the bytes that are held
 * @param moveSeconds
 *   the time that it took to move the documents to their workers, once they were read
 * @param release
 *   releases the blocks
 */
final class DocumentDataset private (
    blocks: RDD[MatrixBlock],
    kept: BlockGroups => RDD[() => Iterator[MatrixBlock]],
    groups: BlockGroups,
    val vocabulary: Int,
    val placement: String,
    val held: HeldBytes,
    val moveSeconds: Double,
    release: () => Unit) {
  private var broadcasts = Seq.empty[Broadcast[_]]
  private var released = false

  /** The context that holds the documents. */
  def sc: SparkContext = blocks.sparkContext

  /**
   * The documents of each worker. A gang does not need them, so nothing is sent before they are asked for. A task fails with
   * [[dwell.spark.InputChangedException]] if a block was read again and differs.
   */
  lazy val partitions: RDD[DocumentData] = {
    val grouped = new GroupedBlocks(blocks, groups)
    broadcasts = grouped.broadcasts
    DocumentDataset.of(grouped, vocabulary)
  }

  /**
   * The same for a barrier stage, see [[dwell.bulk.Kept.held]].
   *
   * @throws SparkException
   *   if blocks were lost and cannot be read again
   */
  def forBarrier: RDD[DocumentData] = DocumentDataset.of(kept(groups), vocabulary)

  /** The number of workers, K. */
  def numPartitions: Int = groups.count

  /** The number of documents of each worker, without those that have no words. */
  val documentsPerPartition: Array[Int] = groups.rows.map(_.toInt)

  /** The number of nonzeros of each worker. */
  def nonzerosPerPartition: Array[Long] = groups.nonzeros

  /** The number of nonzeros of all documents. */
  def nonzeros: Long = nonzerosPerPartition.sum

  /** The number of documents of all workers, D. */
  def documents: Long = documentsPerPartition.map(_.toLong).sum

  /** The number of workers that have documents. */
  def workers: Int = documentsPerPartition.count(_ > 0)

  /** Releases the documents and what was sent for them. The dataset is unusable afterwards. */
  def unpersist(): Unit = synchronized {
    if (!released) {
      released = true
      if (!sc.isStopped) broadcasts.foreach(_.destroy())
      release()
    }
  }
}

/** There are documents, and none has a word. Spark's own code makes a model of them. */
final class NoWordsException(message: String) extends IllegalArgumentException(message)

object DocumentDataset {

  /**
   * Reads and validates documents in one pass, and caches them. The caller must release the data with `unpersist`.
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
      val source = Source(vocabulary, title, column)
      distribute(blocks, summaries, source, numWorkers)
    }
  }

  /** What is known of the documents before they are read. */
  private final case class Source(vocabulary: Int, title: String, column: String)

  private def distribute(
      blocks: Kept[MatrixBlock],
      read: Array[DocumentSummary],
      source: Source,
      numWorkers: Int): DocumentDataset = {
    val numDocuments = read.map(_.documents).sum
    checkCount(read.map(_.rowsRead).sum, numDocuments, source.column)
    val moved = System.nanoTime()
    val index = new BlockIndex(read.scanLeft(0L)(_ + _.documents).init, read.map(_.fingerprint))
    val readBlocks = new ReadBlocks(blocks, index, s"${source.title}: documents on disk")
    val numNonzeros = read.map(_.nonzeros).sum
    val workers =
      if (numWorkers > 0) numWorkers
      else WorkerCount.choose(blocks.sparkContext, numNonzeros, MostBytesOfNonzero * numNonzeros, NonzerosWorthAWorker)
    val readBytes = read.map(_.bytes).sum
    def seconds = (System.nanoTime() - moved) * 1e-9
    def copied(moved: RDD[MatrixBlock], placement: String, broadcasts: Seq[Broadcast[_]]) = {
      val kept = Kept.of(moved, s"${source.title}: documents").keep(StorageLevel.MEMORY_AND_DISK)
      Cached.orRelease(kept, broadcasts) {
        val found = Answers.of(kept)(summary)
        readBlocks.makeRoom()
        val bytes = found.map(_.bytes).sum
        new DocumentDataset(
          kept,
          groups => kept.held(groups.sources).map(group => () => group().flatMap(_._2)),
          BlockGroups.each(sizes(found)),
          source.vocabulary,
          placement,
          HeldBytes(bytes, bytes + readBytes),
          seconds,
          () => release(kept, broadcasts, readBlocks))
      }
    }
    BlockGroups.choose(sizes(read), workers, exactly = numWorkers > 0)(unlike) match {
      case Right(groups) if GroupedBlocks.areTogether(readBlocks.verified, groups) =>
        new DocumentDataset(
          readBlocks.verified,
          groups => readBlocks.held(groups.sources),
          groups,
          source.vocabulary,
          Placement.left,
          HeldBytes(readBytes, readBytes),
          seconds,
          () => readBlocks.release())
      case Right(groups) =>
        val grouped = new GroupedBlocks(readBlocks.verified, groups)
        copied(grouped.flatMap(_()), Placement.gathered(groups), grouped.broadcasts)
      case Left(reason) =>
        checkLoad(numDocuments, workers)
        val dealt = DealtBlocks.of(readBlocks.verified, index, workers, mixed = false, PickedMatrix)
        copied(dealt, Placement.dealt(reason), Seq.empty)
    }
  }

  /** Shuffle files are a copy of all data. Cleaning stops at blocks that Spark keeps: it must not reach the user's own shuffles. */
  private def release(moved: Kept[MatrixBlock], broadcasts: Seq[Broadcast[_]], read: ReadBlocks[MatrixBlock]): Unit = {
    if (!moved.sparkContext.isStopped) moved.cleanShuffleDependencies(blocking = false)
    Cached.release(moved, broadcasts)
    read.release()
  }

  private def sizes(summaries: Array[DocumentSummary]): IndexedSeq[SourceSize] =
    summaries.map(s => SourceSize(s.documents, s.nonzeros)).toIndexedSeq

  /** A worker numbers its documents by ints. */
  private def checkLoad(documents: Long, workers: Int): Unit =
    MatrixBlock.checkLoad(0, workers, RowDistribution.size(0, workers, documents), "documents", MatrixBlock.MaxRows)

  private def of(groups: RDD[() => Iterator[MatrixBlock]], vocabulary: Int): RDD[DocumentData] =
    groups.mapPartitionsWithIndex((k, group) => group.map(blocks => DocumentData.of(k, vocabulary, blocks())))

  /** Why topics of these groups cannot be averaged; None if they can. */
  private def unlike(groups: BlockGroups): Option[String] =
    groups.unevenLengths.orElse {
      if (groups.unevenness <= MostUneven) None
      else Some("documents of a subject may stand together, and the source has too few partitions to deal these out")
    }

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

  /** A partition's report to the driver; `documents` counts those with words. */
  private final case class DocumentSummary(
      rowsRead: Long,
      documents: Long,
      nonzeros: Long,
      bytes: Long,
      fingerprint: Long,
      problem: String)

  private def summary(blocks: Iterator[MatrixBlock]): DocumentSummary =
    blocks.foldLeft(DocumentSummary(0L, 0L, 0L, 0L, BlockIndex.NoBlocks, null)) { (sum, block) =>
      DocumentSummary(
        sum.rowsRead + block.rowsRead,
        sum.documents + block.rows,
        sum.nonzeros + block.nonzeros,
        sum.bytes + block.bytes,
        BlockIndex.fingerprint(sum.fingerprint, block),
        block.problem)
    }

  /** See [[dwell.data.block.BlockGroups.unevenness]]. A worker then has a fifth of its documents too many of a subject at most. */
  private val MostUneven = 0.1

  /** A word and its count. */
  private val MostBytesOfNonzero = 12L

  /** About a third of a second of work in a pass over the documents. A round is a part of a pass. */
  private val NonzerosWorthAWorker = 1000000L
}
