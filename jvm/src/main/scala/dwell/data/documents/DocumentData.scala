package dwell.data.documents

import dwell.data.matrix.{DenseBlock, MatrixBlock, SparseBlock}

/**
 * The documents of one worker as counts of words, in blocks in compressed sparse row form, as primitive arrays that native code reads in
 * place. Nobody may change them. All counts are positive, and every document has at least one.
 *
 * Counts of a block have the narrowest width that loses nothing: it has at most one of `counts32` and `counts64`, and none if every count
 * is 1.
 *
 * @param index
 *   the worker's number, 0 to K - 1
 * @param vocabulary
 *   number of words of the vocabulary, V; words are numbers below it
 * @param offsets
 *   for each block: entries of its document d are at offsets(d) until offsets(d + 1)
 * @param words
 *   for each block the word of each entry, ascending within a document
 * @param counts32
 *   for each block the count of each entry, or null
 * @param counts64
 *   for each block the count of each entry, or null
 */
final case class DocumentData(
    index: Int,
    vocabulary: Int,
    offsets: Array[Array[Int]],
    words: Array[Array[Int]],
    counts32: Array[Array[Float]],
    counts64: Array[Array[Double]]) {

  /** The number of documents. */
  def documents: Int = offsets.map(_.length - 1).sum
}

object DocumentData {

  /** @param blocks in their order; shared, not copied */
  private[documents] def of(index: Int, vocabulary: Int, blocks: Iterator[MatrixBlock]): DocumentData = {
    val sparse = blocks.map {
      case sparse: SparseBlock => sparse
      case _: DenseBlock => throw new IllegalStateException("documents are read as sparse blocks")
    }.toArray
    DocumentData(
      index,
      vocabulary,
      sparse.map(_.offsets),
      sparse.map(_.indices),
      sparse.map(_.values.values32),
      sparse.map(_.values.values64))
  }
}
