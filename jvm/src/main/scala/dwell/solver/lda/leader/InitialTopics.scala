package dwell.solver.lda.leader

import java.nio.{ByteBuffer, ByteOrder}

import dwell.base.SplitMix
import dwell.comm.GeneratedModel

/**
 * The topics that a fit begins with, as [[dwell.solver.lda.contract.LdaSolver]] has them: numbers of mean 1 and
 * variance 0.01, each of which is a function of the seed, its word and its topic alone; the same bits as native code
 * has.
 *
 * In the place of a Gamma(100, 1/100), which Hoffman, Blei, Bach and Spark begin with, it is the cube of a normal
 * number (Wilson, Hilferty, The Distribution of Chi-square, PNAS 17, 1931), that one the sum of twelve uniform ones of
 * 16 bits.
 */
private[lda] final case class InitialTopics(topics: Int, vocabulary: Int, seed: Long) extends GeneratedModel {
  import InitialTopics._

  override def entries(from: Int, until: Int): Array[Byte] = {
    val bytes = ByteBuffer.allocate(8 * (until - from)).order(ByteOrder.LITTLE_ENDIAN)
    val last = math.min(2L * until, vocabulary.toLong * topics)
    var at = 2L * from
    while (at < last) {
      val word = (at / topics).toInt
      val random = SplitMix.forEpoch(seed, word, 0L)
      // A word's numbers are drawn one after the other, from its first topic on.
      var before = at - word.toLong * topics
      while (before > 0) {
        number(random)
        before -= 1
      }
      val end = math.min(last, (word + 1L) * topics)
      while (at < end) {
        bytes.putFloat(number(random))
        at += 1
      }
    }
    bytes.array
  }
}

private[lda] object InitialTopics {

  private def number(random: SplitMix): Float = {
    // Four of the numbers of 16 bits at once: two sums, in halves of a word.
    val sums = halves(random.next()) + halves(random.next()) + halves(random.next())
    val sum = (sums >>> 32) + (sums & 0xffffffffL)
    val root = 1.0 - 1.0 / 900.0 + (sum - MeanSum) / 65536.0 / 30.0
    (root * root * root).toFloat
  }

  private def halves(bits: Long): Long = (bits & Low) + ((bits >>> 16) & Low)

  private val Low = 0x0000ffff0000ffffL

  /** Twelve times the mean. */
  private val MeanSum = 12.0 * 65535.0 / 2.0
}
