package dwell.bench.lda

import java.util.stream.IntStream

import org.apache.commons.math3.special.Gamma

/**
 * How well topics tell the rest of a document from a half of it, by one rule for the topics of every system: neither its own bound
 * nor its own alpha counts, and topics of Gibbs samplers are judged, too. Half of the words of each document are observed, and
 * the others held back:
 *
 * {{{
 *   phi_kw = lambda_kw / sum_w lambda_kw
 *   gamma_k <- alpha_k + sum_w n_w exp(psi(gamma_k)) phi_kw / sum_j exp(psi(gamma_j)) phi_jw    over observed words
 *   theta = gamma / sum_k gamma_k
 *   perplexity = exp(-sum log(sum_k theta_k phi_kw) / words)    over held words of all documents
 * }}}
 */
private[bench] final class DocumentCompletion(documents: Seq[DocumentCompletion.Halves]) {
  import DocumentCompletion._

  /** Those in any of the documents, ascending. */
  private val words: Array[Int] = documents.flatMap(d => d.observed.words ++ d.held.words).distinct.sorted.toArray

  val heldWords: Double = documents.map(_.held.counts.sum).sum

  /** The part of topics that documents are judged by.
    *
    * @param lambda
    *   of a word and a topic, at least 0
    */
  def judged(vocabulary: Int, topics: Int)(lambda: (Int, Int) => Double): Judged = {
    val sums = new Array[Double](topics)
    for (w <- 0 until vocabulary) addRow(sums, w, lambda)
    val rows = words.map { w =>
      val row = new Array[Double](topics)
      addRow(row, w, lambda)
      row.indices.foreach(k => row(k) /= sums(k))
      row
    }
    Judged(topics, rows)
  }

  private def addRow(sums: Array[Double], word: Int, lambda: (Int, Int) => Double): Unit = {
    var k = 0
    while (k < sums.length) {
      sums(k) += lambda(word, k)
      k += 1
    }
  }

  /** With the same alpha for every topic: 1 / K. */
  def perplexity(topics: Judged): Double = perplexity(topics, Array.fill(topics.topics)(1.0 / topics.topics))

  def perplexity(topics: Judged, alpha: Array[Double]): Double = {
    def rows(half: Half) = half.words.map(w => topics.rows(java.util.Arrays.binarySearch(words, w)))
    val logarithms = IntStream
      .range(0, documents.size)
      .parallel()
      .mapToDouble { i =>
        val document = documents(i)
        val theta = proportions(rows(document.observed), document.observed.counts, alpha)
        val held = rows(document.held)
        held.indices.map(w => document.held.counts(w) * math.log(dot(theta, held(w)))).sum
      }
      .toArray
    math.exp(-logarithms.sum / heldWords)
  }
}

private[bench] object DocumentCompletion {
  private val Tolerance = 1e-4
  private val MostIterations = 200

  /** Where every topic of the document has lost the word. */
  private val Least = 1e-300

  /** A number of each word. */
  final case class Half(words: Array[Int], counts: Array[Double])

  final case class Halves(observed: Half, held: Half)

  /**
   * phi, as far as it is needed.
   *
   * @param rows
   *   of each of the words, in their order: a number for each topic
   */
  final case class Judged(topics: Int, rows: Array[Array[Double]])

  /** theta, from gamma that starts at alpha + N / K. */
  private def proportions(rows: Array[Array[Double]], counts: Array[Double], alpha: Array[Double]): Array[Double] = {
    val topics = alpha.length
    var gamma = alpha.map(_ + counts.sum / topics)
    var change = Double.MaxValue
    var iteration = 0
    while (change >= Tolerance && iteration < MostIterations) {
      // psi(sum_k gamma_k) cancels.
      val weights = gamma.map(g => math.exp(Gamma.digamma(g)))
      val sums = new Array[Double](topics)
      for (w <- rows.indices) {
        val row = rows(w)
        val share = counts(w) / math.max(Least, dot(weights, row))
        var k = 0
        while (k < topics) {
          sums(k) += share * row(k)
          k += 1
        }
      }
      val next = Array.tabulate(topics)(k => alpha(k) + weights(k) * sums(k))
      change = next.indices.map(k => math.abs(next(k) - gamma(k))).sum / topics
      gamma = next
      iteration += 1
    }
    val sum = gamma.sum
    gamma.map(_ / sum)
  }

  private def dot(x: Array[Double], y: Array[Double]): Double = {
    var sum = 0.0
    var k = 0
    while (k < x.length) {
      sum += x(k) * y(k)
      k += 1
    }
    sum
  }
}
