package dwell.solver.lda.worker

import dwell.comm.wire.Numbers
import dwell.jni.{LdaLayout, ResultHeader}

/** Reads the result of a round. [[dwell.jni.LdaLayout]] describes it. */
private[lda] object LdaResult {

  /** The numbers of shared topics, of word w and topic k at w K + k. */
  def numbers(shared: Array[Byte], vocabulary: Int, topics: Int): Array[Double] = {
    val numbers = Numbers.Floats.values(shared)
    val length = LdaLayout.entries(vocabulary, topics)
    if (numbers.length == length) numbers else java.util.Arrays.copyOf(numbers, length)
  }

  /**
   * The factors of entries whose word is in no visited document. Such an entry of the result is the shared entry times
   * each factor in turn, rounded after each product. The last factor is the share. Empty if there are too many.
   */
  def factors(result: Array[Byte]): Array[Double] =
    Array.tabulate(ResultHeader.get(result, LdaLayout.FACTORS).toInt) { k =>
      ResultHeader.get(result, LdaLayout.FACTOR + k)
    }

  /** The sums of E[log theta], one for each topic, which follow the topics of a result. */
  def logThetaSums(result: Array[Byte], vocabulary: Int, topics: Int): Array[Double] = {
    val sums = new Array[Double](topics)
    ResultHeader.vector(result).position(LdaLayout.vectorBytes(vocabulary, topics) / 8).get(sums)
    sums
  }
}
