package dwell.data.documents

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.storage.StorageLevel

import dwell.base.{Answers, WorkerCount}
import dwell.bulk.{BulkShuffle, Kept}
import dwell.data.block.{Cached, CachedDataset, ReadBlocks}
import dwell.data.matrix.{BlockIndex, ExcludedFeatures, MatrixBlock, MatrixMerge, MatrixPiece, PartitionForm, VectorSizes}

/**
 * Documents as counts of words, read and validated, split into partitions of equally many documents.
 *
 * @param partitions
 *   one [[DocumentPartition]] in each Spark partition
 * @param vocabulary
 *   number of words of the vocabulary, V
 * @param documentsPerPartition
 *   number of documents of each partition, without those that have no words
 * @param moveSeconds
 *   the time that it took to move the documents to their partitions, once they were read
 */
final class DocumentDataset private (
    blocks: ReadBlocks[MatrixBlock],
    partitions: Kept[DocumentPartition],
    val vocabulary: Int,
    val documentsPerPartition: Array[Int],
    nonzerosPerPartition: Array[Long],
    bytes: Long,
    val moveSeconds: Double)
    extends CachedDataset[DocumentPartition](partitions, nonzerosPerPartition, bytes, Seq.empty) {

  /** The number of documents of all partitions, D. */
  def documents: Long = documentsPerPartition.map(_.toLong).sum

  /** The number of partitions that have documents. */
  def workers: Int = documentsPerPartition.count(_ > 0)

  override def unpersist(): Unit = synchronized {
    // Shuffle files are a copy of all data. Cleaning stops at the cached blocks: it must not reach the user's own
    // shuffles.
    if (!isReleased && !partitions.sparkContext.isStopped) partitions.cleanShuffleDependencies()
    super.unpersist()
    blocks.release()
  }
}

object DocumentDataset {

  /**
   * Reads and validates documents in one pass, moves each to its partition, and caches them. A fixed hash of a
   * document's number chooses the partition, as for the rows of linear models. The caller must release the data with
   * `unpersist`.
   *
   * @param vectors
   *   rows in Spark's own format; the first column is the vector of a document's counts, by word. Read once, unless
   *   cached data is lost
   * @param vocabulary
   *   length that every vector must have
   * @param numWorkers
   *   number of partitions; those beyond the number of documents stay empty. 0: [[dwell.base.WorkerCount]] chooses it
   * @param title
   *   name of the cached data on Spark's storage page
   * @param column
   *   name of the DataFrame column, for error messages
   * @throws IllegalArgumentException
   *   if the data is not fit for training; the message names the column, the row and the fix
   */
  def read(
      vectors: RDD[InternalRow],
      vocabulary: Int,
      numWorkers: Int,
      title: String,
      column: String = "features"): DocumentDataset = {
    require(numWorkers >= 0, s"The number of workers must not be negative, but was $numWorkers")
    val read = vectors.mapPartitionsWithIndex { (partition, it) =>
      DocumentReader.read(partition, vocabulary, it, column)
    }
    val blocks = Kept.of(read, s"$title: documents as read").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(blocks, Seq.empty)(distribute(blocks, vocabulary, numWorkers, title, column))
  }

  private def distribute(
      blocks: Kept[MatrixBlock],
      vocabulary: Int,
      numWorkers: Int,
      title: String,
      column: String): DocumentDataset = {
    val sc = blocks.sparkContext
    val read = Answers.of(blocks)(summary)
    read.find(_.problem != null).foreach(s => throw new IllegalArgumentException(s.problem))
    checkCount(read.map(_.rowsRead).sum, read.map(_.documents).sum, column)
    val moved = System.nanoTime()
    val index = new BlockIndex(read.scanLeft(0L)(_ + _.documents).init, read.map(_.fingerprint))
    val numNonzeros = read.map(_.nonzeros).sum
    val numPartitions =
      if (numWorkers > 0) numWorkers
      else WorkerCount.choose(sc, numNonzeros, MostBytesOfNonzero * numNonzeros, NonzerosWorthAWorker)
    val numDocuments = read.map(_.documents).sum
    val readBlocks = new ReadBlocks(blocks, index, s"$title: documents on disk")
    val sizes = readBlocks.verified.flatMap { block =>
      VectorSizes
        .of(block, index.firstRow(block), ExcludedFeatures.None, numPartitions)
        .iterator
        .zipWithIndex
        .map(_.swap)
    }
    val pieces = readBlocks.verified.flatMap { block =>
      MatrixPiece.cut(block, index.firstRow(block), ExcludedFeatures.None, numPartitions)
    }
    val merged = BulkShuffle.together(
      BulkShuffle.byIndex(sizes, numPartitions, VectorSizes),
      BulkShuffle.byIndex(pieces, numPartitions, MatrixPiece)) { (k, sizes, pieces) =>
      val choice = PartitionForm.Choice.Sparse
      val matrix = new MatrixMerge(k, numPartitions, numDocuments, vocabulary, mixed = false, choice, sizes)
      pieces.foreach(matrix.add)
      val values = matrix.values
      new DocumentPartition(k, vocabulary, matrix.offsets, matrix.indices, values.values32, values.values64)
    }
    val partitions = Kept.of(merged, s"$title: documents").keep(StorageLevel.MEMORY_AND_DISK)
    Cached.orRelease(partitions, Seq.empty) {
      val held = Answers.of(partitions)(it => sizesOf(it.next()))
      readBlocks.makeRoom()
      new DocumentDataset(
        readBlocks,
        partitions,
        vocabulary,
        held.map(_._1),
        held.map(_._2),
        held.map(_._3).sum,
        (System.nanoTime() - moved) * 1e-9)
    }
  }

  private def checkCount(read: Long, documents: Long, column: String): Unit = {
    if (read == 0L) {
      throw new IllegalArgumentException(
        s"There are no documents to train on (column '$column'). Check the filters and joins that the DataFrame came from.")
    }
    if (documents == 0L) {
      throw new IllegalArgumentException(
        s"Column '$column': no document has a word, so there is nothing to train on. Check the vocabulary that the words " +
          "were counted by.")
    }
  }

  /** A source partition's report to the driver; `documents` counts those with words. */
  private final case class Summary(rowsRead: Long, documents: Long, nonzeros: Long, fingerprint: Long, problem: String)

  private def summary(blocks: Iterator[MatrixBlock]): Summary =
    blocks.foldLeft(Summary(0L, 0L, 0L, BlockIndex.NoBlocks, null)) { (sum, block) =>
      Summary(
        sum.rowsRead + block.rowsRead,
        sum.documents + block.rows,
        sum.nonzeros + block.nonzeros,
        BlockIndex.fingerprint(sum.fingerprint, block),
        block.problem)
    }

  /** The numbers of documents, nonzeros and bytes. */
  private def sizesOf(p: DocumentPartition): (Int, Long, Long) = (p.documents, p.nonzeros.toLong, p.bytes)

  /** A word and its count. */
  private val MostBytesOfNonzero = 12L

  /** About a third of a second of work in a pass over the documents. A round is a part of a pass. */
  private val NonzerosWorthAWorker = 1000000L
}
