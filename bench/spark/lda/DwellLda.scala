package dwell.bench.lda

import org.apache.spark.ml.clustering.LocalLDAModel

import dwell.bench.{Bench, ClusterClock}
import dwell.ml.clustering.LDA
import dwell.report.FitReport

/**
 * Dwell: topics on the way are those of whole fits of so many iterations, with all that precedes and follows the rounds.
 *
 * @param documents
 *   of an iteration
 * @param averages
 *   see [[Exchange]]
 * @param params
 *   beside those that it shares with Spark
 * @param checkpoints
 *   iterations, in order
 */
private[bench] final class DwellLda(
    override val name: String,
    corpus: LdaCorpus,
    topics: Int,
    documents: Int,
    averages: Boolean,
    params: Seq[(String, Any)],
    checkpoints: Seq[Int])
    extends LdaSystem {

  override def exchange: Option[Exchange] = Some(Exchange(documents, averages))

  override def run(seed: Long): Seq[LdaCheckpoint] = {
    val clock = new ClusterClock(corpus.documents.sparkSession.sparkContext)
    val common = LdaProblems.common(corpus, topics, documents, seed) ++ params
    checkpoints.map { iterations =>
      val (model, spent) = clock.measured {
        Bench.fit(new LDA(), corpus.documents, common :+ ("maxIter" -> iterations): _*).asInstanceOf[LocalLDAModel]
      }
      val report = FitReport.of(model)
      require(report.solver == "native", report.toText)
      val lambda = model.topicsMatrix
      LdaCheckpoint(
        iterations.toDouble * math.min(documents.toLong, corpus.size),
        Some(report.rounds.last.round),
        spent,
        corpus.completion.judged(corpus.vocabulary, topics)(lambda.apply(_, _)))
    }
  }
}
