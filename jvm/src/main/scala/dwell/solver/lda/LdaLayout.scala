package dwell.solver.lda

import java.util.Arrays

import dwell.solver.ResultLayout

/**
 * Layout of topics and of what a call of [[LdaSolver]] returns.
 *
 * Topics have K V entries: lambda without its prior eta, of word w and topic k at `w K + k`. A result is the header of
 * [[dwell.solver.ResultLayout]], with slots of its own meaning, and topics; with a request for them, K sums of E[log theta]
 * behind these. Slots that a call has nothing to say in are 0.
 */
object LdaLayout {

  /** Sum of the counts of the documents visited. */
  val Tokens: Int = 0

  /** Iterations of all documents. */
  val Iterations: Int = 1

  /** Steps of the topics. */
  val Updates: Int = 2

  /** Sum of the step sizes. */
  val RhoSum: Int = 3

  /** Bound: sum over the documents of their part of the variational bound on the logarithm of the likelihood. */
  val Bound: Int = 4

  /** Documents visited. */
  val Documents: Int = 5

  /** Nonzeros visited. */
  val Nonzeros: Int = 6

  /** Nanoseconds inside the solver. */
  val SolverNanos: Int = ResultLayout.SolverNanos

  /** Cursor after the call; 0 for a bound. */
  val Cursor: Int = 9

  /** How many numbers there are from [[Factor]] on; 0 where they would be more than [[MaxFactors]]. */
  val Factors: Int = 15

  /**
   * First of the numbers that an entry of the shared topics whose word is in no document visited was multiplied by, one after
   * the other and rounded every time, to what it is in the result. The last is the share.
   */
  val Factor: Int = 16

  /** So many of them there may be. */
  val MaxFactors: Int = 24

  /** The numbers from [[Factor]] on. */
  def factors(result: Array[Byte]): Array[Double] =
    Array.tabulate(ResultLayout.get(result, Factors).toInt)(k => ResultLayout.get(result, Factor + k))

  /** Entries of topics; an error if a result could not hold them. */
  def entries(vocabulary: Int, topics: Int): Int = {
    val entries = vocabulary.toLong * topics
    // A result may have the sums of each topic as well.
    require(
      entries + topics <= ResultLayout.MaxRows,
      s"$topics topics of $vocabulary words have $entries entries, but at most ${ResultLayout.MaxRows - topics} fit into an " +
        "array: train fewer topics, or on fewer words")
    entries.toInt
  }

  /** Length of a result with topics, in bytes. */
  def length(vocabulary: Int, topics: Int, concentration: Boolean): Int =
    ResultLayout.length(entries(vocabulary, topics) + (if (concentration) topics else 0))

  /** The sums of E[log theta] behind the topics of a result. */
  def logThetaSums(result: Array[Byte], vocabulary: Int, topics: Int): Array[Double] = {
    val sums = new Array[Double](topics)
    ResultLayout.vector(result).position(entries(vocabulary, topics)).get(sums)
    sums
  }

  /** A result without the sums behind its topics. */
  def withoutSums(result: Array[Byte], vocabulary: Int, topics: Int): Array[Byte] =
    Arrays.copyOf(result, length(vocabulary, topics, concentration = false))
}
