package dwell.bench.lda

/** Params that several systems have, so that they solve the same problem. */
private[bench] object LdaProblems {

  /** Step sizes that are good for mini-batches of 1000 documents one after the other, whatever the system. */
  val Sequential: Seq[(String, Any)] = Seq("learningOffset" -> 10.0, "learningDecay" -> 0.7)

  /**
   * Priors of 1/K, which stay, and as many documents an iteration.
   *
   * @param documents
   *   of an iteration; all, if there are fewer
   */
  def common(corpus: LdaCorpus, topics: Int, documents: Int, seed: Long): Seq[(String, Any)] = Seq(
    "k" -> topics,
    "optimizeDocConcentration" -> false,
    "docConcentration" -> Array(1.0 / topics),
    "topicConcentration" -> 1.0 / topics,
    "subsamplingRate" -> math.min(1.0, documents.toDouble / corpus.size),
    "seed" -> seed)
}
