package dwell.data.documents

import dwell.bulk.{Bulk, BulkFormat, BulkInput, BulkOutput}

/**
 * The documents of one partition as counts of words, in compressed sparse row form, as primitive arrays that native
 * code reads in place. All counts are positive, and every document has at least one.
 *
 * Counts have the narrowest width that loses nothing: at most one of `counts32` and `counts64` is present, and none if
 * every count is 1.
 *
 * @param index
 *   the partition's number, 0 to numPartitions - 1
 * @param vocabulary
 *   number of words of the vocabulary, V; words are numbers below it
 * @param offsets
 *   length `documents + 1`: entries of document d are at offsets(d) until offsets(d + 1)
 * @param words
 *   word of each entry, ascending within a document
 * @param counts32
 *   count of each entry, or null
 * @param counts64
 *   count of each entry, or null
 */
final class DocumentPartition(
    val index: Int,
    val vocabulary: Int,
    val offsets: Array[Int],
    val words: Array[Int],
    val counts32: Array[Float],
    val counts64: Array[Double])
    extends Bulk[DocumentPartition] {
  override protected def format: BulkFormat[DocumentPartition] = DocumentPartition

  /** The number of documents held. */
  def documents: Int = offsets.length - 1

  /** The number of entries held. */
  def nonzeros: Int = words.length

  /** The size of the arrays in bytes. */
  def bytes: Long =
    4L * (offsets.length + words.length) + (if (counts32 != null) 4L * counts32.length else 0L) +
      (if (counts64 != null) 8L * counts64.length else 0L)

  override def toString: String =
    s"DocumentPartition($index: $documents documents, $vocabulary words, $nonzeros nonzeros)"
}

private object DocumentPartition extends BulkFormat[DocumentPartition] {
  override def write(p: DocumentPartition, out: BulkOutput): Unit = {
    out.int(p.index)
    out.int(p.vocabulary)
    out.array(p.offsets)
    out.array(p.words)
    out.array(p.counts32)
    out.array(p.counts64)
  }

  override def read(in: BulkInput): DocumentPartition =
    new DocumentPartition(in.int(), in.int(), in.intArray(), in.intArray(), in.floatArray(), in.doubleArray())
}
