package dwell.bench.lda

/**
 * The shape of generated documents, see [[PlantedTopics]]. Those of the public bags of words of New York Times articles and of
 * PubMed abstracts, with fewer documents: words a document, and how often the same word is there again.
 *
 * | name | public set | words a document | distinct words | at scale 1 |
 * |:--|:--|--:|--:|--:|
 * | nytimes, nytimes4 | 300k documents, 103k words | 332 | 232 | 30k, 120k |
 * | pubmed | 8.2M documents, 141k words | 90 | 59 | 120k |
 *
 * @param documents
 *   at scale 1, without those held out
 * @param length
 *   mean number of words of a document, which is log-normal
 * @param lengthSigma
 *   of its logarithm
 * @param repeated
 *   share of the words of a document that repeat an earlier one of it (burstiness)
 */
private[bench] final case class LdaShape(
    name: String,
    documents: Int,
    vocabulary: Int,
    length: Int,
    lengthSigma: Double,
    repeated: Double)

private[bench] object LdaShape {
  val NyTimes: LdaShape = LdaShape("nytimes", 30000, 100000, 330, 0.55, 0.22)
  private val PubMed = LdaShape("pubmed", 120000, 140000, 90, 0.45, 0.33)

  val all: Seq[LdaShape] = Seq(NyTimes, NyTimes.copy(name = "nytimes4", documents = 4 * NyTimes.documents), PubMed)

  /** To warm up. */
  val Tiny: LdaShape = LdaShape("tiny", 2000, 2000, 50, 0.5, 0.2)
}
