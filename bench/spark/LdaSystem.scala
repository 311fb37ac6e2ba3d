package dwell.bench

/** What finds topics in an [[LdaCorpus]], and can say where it was on the way. */
private[bench] trait LdaSystem {
  def name: String

  /** A fit from random topics, which depend on the seed; the models on the way, in order. */
  def run(seed: Long): Seq[LdaCheckpoint]
}

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
