package dwell.solver.lda.leader

import dwell.base.{LittleEndian, SplitMix}
import dwell.comm.GeneratedModel

/**
 * The initial topics of a fit, in the layout of [[dwell.solver.lda.worker.LdaSolver]]: numbers of mean 1 and variance
 * 0.01. Each number depends only on the seed, its word and its topic, and has the same bits as in native code.
 *
 * Hoffman, Blei, Bach and Spark begin with Gamma(100, 1/100). Dwell approximates it by the cube of a normal number
 * (Wilson, Hilferty, The Distribution of Chi-square, PNAS 17, 1931), and the normal number by the sum of twelve uniform
 * numbers of 16 bits.
 */
private[lda] final case class InitialTopics(topics: Int, vocabulary: Int, seed: Long) extends GeneratedModel {
  import InitialTopics._

  override def entries(from: Int, until: Int): Array[Byte] = {
    val bytes = new Array[Byte](8 * (until - from))
    val numbers = LittleEndian.buffer(bytes).asFloatBuffer()
    val last = math.min(2L * until, vocabulary.toLong * topics)
    var at = 2L * from
    while (at < last) {
      val word = (at / topics).toInt
      val random = SplitMix.forEpoch(seed, word, 0L)
      // The generator of a word draws its numbers in order, from its first topic on.
      var before = at - word.toLong * topics
      while (before > 0) {
        number(random)
        before -= 1
      }
      val end = math.min(last, (word + 1L) * topics)
      while (at < end) {
        numbers.put(number(random))
        at += 1
      }
    }
    bytes
  }
}

private[lda] object InitialTopics {

  /** The next number. */
  private def number(random: SplitMix): Float = {
    // Each draw gives four numbers of 16 bits, which are added as two sums in the halves of a word.
    val sums = halves(random.next()) + halves(random.next()) + halves(random.next())
    val sum = (sums >>> 32) + (sums & 0xffffffffL)
    val root = 1.0 - 1.0 / 900.0 + (sum - MeanSum) / 65536.0 / 30.0
    (root * root * root).toFloat
  }

  /** The sums of two pairs of 16-bit numbers, in the halves of a word. */
  private def halves(bits: Long): Long = (bits & Low) + ((bits >>> 16) & Low)

  private val Low = 0x0000ffff0000ffffL

  /** Mean of the sum of twelve numbers. */
  private val MeanSum = 12.0 * 65535.0 / 2.0
}
