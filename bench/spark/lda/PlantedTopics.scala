package dwell.bench.lda

import scala.util.Random
import scala.util.hashing.byteswap64

import org.apache.spark.ml.linalg.{Vector, Vectors}

/**
 * Documents that come from topics:
 *
 * {{{
 *   popularity of a word ~ 1 / (rank + 100)^1.05, words in random order
 *   topic k ~ Dirichlet(800 popularity), for 100 topics
 *   theta ~ Dirichlet(alpha), alpha_k ~ 1 / (k + 10), of sum 1.2
 * }}}
 *
 * A word of a document is of a topic of its own, or, with a probability that the shape has, an earlier word once more: words of
 * text come in bursts, and without that hardly any count would be above 1.
 */
private[bench] final class PlantedTopics(shape: LdaShape, seed: Long) {
  import PlantedTopics._

  /** Of each topic: the popularities of the words, added up. */
  private val cumulative: Array[Array[Double]] = {
    val random = new Random(byteswap64(seed))
    val weights = Array.tabulate(shape.vocabulary)(rank => math.pow(rank + 100.0, -1.05))
    val popularity = random.shuffle(weights.toSeq).toArray
    val total = popularity.sum
    val shapes = popularity.map(_ * TopicSum / total)
    // Topics by number, so that they can be made in any order.
    Array.tabulate(Topics)(k =>
      dirichlet(new Random(byteswap64(byteswap64(seed) - 1 - k)), shapes).scanLeft(0.0)(_ + _).tail)
  }

  /** phi of a word and a topic. */
  def apply(word: Int, topic: Int): Double =
    cumulative(topic)(word) - (if (word == 0) 0.0 else cumulative(topic)(word - 1))

  /** The document of that number: a function of shape, seed and number. */
  def document(number: Int): Vector = {
    val random = new Random(byteswap64(byteswap64(seed) + number))
    val theta = dirichlet(random, Alpha).scanLeft(0.0)(_ + _).tail
    val sigma = shape.lengthSigma
    val length =
      math.max(LeastWords, (shape.length * math.exp(sigma * random.nextGaussian() - sigma * sigma / 2.0)).round.toInt)
    val words = new Array[Int](length)
    for (i <- 0 until length) {
      words(i) =
        if (i > 0 && random.nextDouble() < shape.repeated) words(random.nextInt(i))
        else drawn(random, cumulative(drawn(random, theta)))
    }
    val counts = words.groupBy(identity).map { case (word, all) => (word, all.length.toDouble) }
    Vectors.sparse(shape.vocabulary, counts.toSeq)
  }
}

private[bench] object PlantedTopics {
  val Topics = 100
  private val TopicSum = 800.0
  private val LeastWords = 10

  /** Of documents. */
  val Alpha: Array[Double] = {
    val weights = Array.tabulate(Topics)(k => 1.0 / (k + 10.0))
    weights.map(_ * 1.2 / weights.sum)
  }

  private def drawn(random: Random, cumulative: Array[Double]): Int = {
    val at = java.util.Arrays.binarySearch(cumulative, random.nextDouble() * cumulative.last)
    math.min(cumulative.length - 1, if (at < 0) -at - 1 else at)
  }

  private def dirichlet(random: Random, shapes: Array[Double]): Array[Double] = {
    val logarithms = shapes.map(logGamma(random, _))
    val most = logarithms.max
    val weights = logarithms.map(x => math.exp(x - most))
    val sum = weights.sum
    weights.map(_ / sum)
  }

  /**
   * Logarithm of a Gamma variate, which is itself too small for a number where the shape is small: that of shape + 1 (Marsaglia,
   * Tsang, ACM Trans. Math. Software 26, 2000), times U^(1/shape).
   */
  @annotation.tailrec
  private def logGamma(random: Random, shape: Double): Double = {
    val d = shape + 2.0 / 3.0
    val x = random.nextGaussian()
    val root = 1.0 + x / math.sqrt(9.0 * d)
    val v = root * root * root
    if (v > 0.0 && math.log(1.0 - random.nextDouble()) < x * x / 2.0 + d - d * v + d * math.log(v)) {
      math.log(d * v) + math.log(1.0 - random.nextDouble()) / shape
    } else logGamma(random, shape)
  }
}
