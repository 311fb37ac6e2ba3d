package dwell.bench.lda

import dwell.bench.Spent

/** What finds topics in an [[LdaCorpus]], and can say where it was on the way. */
private[bench] trait LdaSystem {
  def name: String

  /** None on one node. */
  def exchange: Option[Exchange] = None

  /** A fit from random topics, which depend on the seed; the models on the way, in order. */
  def run(seed: Long): Seq[LdaCheckpoint]
}

/**
 * How the workers of a system come together.
 *
 * @param documents
 *   of all workers between two times, as asked for: workers that would drift apart come together more often
 * @param averages
 *   whether each worker makes steps of its own in between, and the topics are averaged; else there is one step for all of them
 */
private[bench] final case class Exchange(documents: Int, averages: Boolean)

/**
 * Topics on the way.
 *
 * @param documents
 *   that were visited
 * @param rounds
 *   of communication, where there is any
 */
private[bench] final case class LdaCheckpoint(
    documents: Double,
    rounds: Option[Int],
    spent: Spent,
    topics: DocumentCompletion.Judged)
