package dwell.solver.lda

import dwell.jni.LdaLayout
import dwell.solver.SplitMix

/** The topics that a fit begins with. */
private[lda] object InitialTopics {

  /**
   * Numbers of mean 1 and variance 0.01, each of which is a function of the seed, its word and its topic alone; rounded to
   * single precision, the same bits as native code has.
   *
   * In the place of a Gamma(100, 1/100), which Hoffman, Blei, Bach and Spark begin with, it is the cube of a normal number
   * (Wilson, Hilferty, The Distribution of Chi-square, PNAS 17, 1931), that one the sum of twelve uniform ones.
   *
   * @return
   *   length `vocabulary * topics`: lambda without its prior, of word w and topic k at w K + k
   */
  def apply(topics: Int, vocabulary: Int, seed: Long): Array[Double] = {
    val numbers = new Array[Double](LdaLayout.entries(vocabulary, topics))
    var word = 0
    while (word < vocabulary) {
      val random = SplitMix.forEpoch(seed, word, 0L)
      val first = word * topics
      var k = 0
      while (k < topics) {
        var uniform = 0.0
        var i = 0
        while (i < Uniforms) {
          uniform += (random.next() >>> 11).toDouble / TwoTo53
          i += 1
        }
        val root = 1.0 - 1.0 / 900.0 + (uniform - 6.0) / 30.0
        numbers(first + k) = (root * root * root).toFloat.toDouble
        k += 1
      }
      word += 1
    }
    numbers
  }

  private val Uniforms = 12
  private val TwoTo53 = (1L << 53).toDouble
}
