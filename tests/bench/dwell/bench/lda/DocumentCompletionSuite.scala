package dwell.bench.lda

import DocumentCompletion.{Half, Halves}

import dwell.LimitedSuite

/** The evaluator of bench/spark, on topics and documents whose perplexity is known without it. */
class DocumentCompletionSuite extends LimitedSuite {

  private val Exact = 1e-12

  /** The evaluator stops when proportions change by less than this. */
  private val Iterated = 1e-4

  private def half(counts: (Int, Double)*): Half = Half(counts.map(_._1).toArray, counts.map(_._2).toArray)

  private def perplexity(alpha: Option[Array[Double]], lambda: Array[Array[Double]], documents: Halves*): Double = {
    val completion = new DocumentCompletion(documents)
    val judged = completion.judged(lambda.length, lambda.head.length)((w, k) => lambda(w)(k))
    alpha.fold(completion.perplexity(judged))(completion.perplexity(judged, _))
  }

  private def assertClose(found: Double, expected: Double, tolerance: Double) =
    assert(math.abs(found / expected - 1.0) < tolerance, s"$found, expected $expected")

  test("equal topics, of whatever sum, tell words by their shares, also those that no document has") {
    // Shares 1/4, 1/2, 1/4, 0 of topics of sums 4 and 8.
    val lambda = Array(Array(1.0, 2.0), Array(2.0, 4.0), Array(1.0, 2.0), Array(0.0, 0.0))
    val first = Halves(half(1 -> 3.0), half(0 -> 1.0, 1 -> 2.0))
    val second = Halves(half(), half(2 -> 1.0))
    // The words of all documents count equally: (1/4 * 1/2 * 1/2 * 1/4)^(-1/4).
    assertClose(perplexity(None, lambda, first, second), math.pow(64.0, 0.25), Exact)
  }

  test("topics without common words take the words that they have: gamma is alpha and their number") {
    // Word 2 belongs to topic 1 alone.
    val lambda = Array(Array(1.0, 0.0), Array(1.0, 0.0), Array(0.0, 5.0))
    val document = Halves(half(0 -> 3.0, 2 -> 1.0), half(1 -> 1.0, 2 -> 2.0))
    // With alpha 1/2 gamma is (3.5, 1.5), theta (0.7, 0.3): the probabilities of the held-out words are 0.7 / 2 and
    // twice 0.3.
    assertClose(perplexity(None, lambda, document), math.pow(0.35 * 0.3 * 0.3, -1.0 / 3.0), Exact)
    // With alpha (2, 1) gamma is (5, 2).
    val expected = math.pow(5.0 / 14.0 * (2.0 / 7.0) * (2.0 / 7.0), -1.0 / 3.0)
    assertClose(perplexity(Some(Array(2.0, 1.0)), lambda, document), expected, Exact)
  }

  test("words that topics share go to them as the variational distribution says") {
    // phi is (0.6, 0.3, 0.1) and (0.1, 0.3, 0.6).
    val lambda = Array(Array(6.0, 2.0), Array(3.0, 6.0), Array(1.0, 12.0))
    val document = Halves(half(0 -> 4.0, 2 -> 1.0), half(0 -> 1.0, 2 -> 2.0))
    // The fixed point by SciPy: gamma = 0.5 + exp(psi(gamma)) * ((n / (phi @ exp(psi(gamma)))) @ phi).
    val gamma = Array(4.97757559, 1.02242441)
    val shares = lambda.map(row => (gamma(0) * row(0) / 10.0 + gamma(1) * row(1) / 20.0) / gamma.sum)
    val expected = math.pow(shares(0) * shares(2) * shares(2), -1.0 / 3.0)
    assertClose(perplexity(None, lambda, document), expected, Iterated)
  }
}
