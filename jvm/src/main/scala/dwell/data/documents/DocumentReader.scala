package dwell.data.documents

import org.apache.spark.sql.catalyst.InternalRow

import dwell.data.matrix.{MatrixBlock, MatrixBuilder, ReadBlock}

/** Reads documents as counts of words, in sparse blocks. A document without words is not kept. */
private[documents] object DocumentReader {

  /** Least and greatest count of a word; the solver of topics can compute with these. */
  private val LeastCount = 1e-6f.toDouble
  private val GreatestCount = 1e9

  /**
   * Reads a source partition, up to its first bad document, in blocks of bounded size, see [[ReadBlock.all]].
   *
   * @param vocabulary
   *   length that every vector must have
   * @param documents
   *   rows whose first column is the vector of a document
   * @param column
   *   name of the DataFrame column, for error messages
   */
  def read(partition: Int, vocabulary: Int, documents: Iterator[InternalRow], column: String): Iterator[MatrixBlock] =
    ReadBlock.all(partition, documents) { place =>
      val builder = new MatrixBuilder(place, vocabulary, column, mayBeDense = false)
      while (documents.hasNext && !builder.isFull) {
        builder.add(documents.next(), 0) {
          var words = 0
          builder.eachNonzero { (word, count) =>
            words += 1
            if (!(count >= LeastCount && count <= GreatestCount)) {
              builder.fail(
                column,
                s"count $count at index $word",
                "Counts of words must be 0, or 1e-6 to 1e9: count them, for example, with CountVectorizer")
            }
          }
          words > 0
        }
      }
      builder.result()
    }
}
