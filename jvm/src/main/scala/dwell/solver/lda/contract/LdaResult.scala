package dwell.solver.lda.contract

import dwell.jni.ResultHeader
import dwell.comm.wire.Numbers
import dwell.jni.LdaLayout

/** What the result of a round holds: see [[dwell.jni.LdaLayout]]. */
private[lda] object LdaResult {

  /** The numbers of shared topics, of word w and topic k at w K + k. */
  def numbers(shared: Array[Byte], vocabulary: Int, topics: Int): Array[Double] = {
    val numbers = Numbers.Floats.values(shared)
    val length = LdaLayout.entries(vocabulary, topics)
    if (numbers.length == length) numbers else java.util.Arrays.copyOf(numbers, length)
  }

  /**
   * The numbers that an entry of the shared topics whose word is in no document visited was multiplied by, one after
   * the other and rounded every time, to what it is in the result. The last is the share. Empty where they would be too
   * many.
   */
  def factors(result: Array[Byte]): Array[Double] =
    Array.tabulate(ResultHeader.get(result, LdaLayout.FACTORS).toInt) { k =>
      ResultHeader.get(result, LdaLayout.FACTOR + k)
    }

  /** The sums of E[log theta], one for each topic, behind the topics of a result. */
  def logThetaSums(result: Array[Byte], vocabulary: Int, topics: Int): Array[Double] = {
    val sums = new Array[Double](topics)
    ResultHeader.vector(result).position(LdaLayout.vectorBytes(vocabulary, topics) / 8).get(sums)
    sums
  }
}
