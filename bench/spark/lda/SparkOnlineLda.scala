package dwell.bench.lda

import scala.collection.mutable

import org.apache.spark.ml.clustering.RecordedLDA
import org.apache.spark.mllib.linalg.Matrix

import dwell.bench.{Bench, ClusterClock, Spent}

/**
 * Spark's online LDA: sufficient statistics of a mini-batch are added up by treeAggregate, and topics are on the driver. All
 * checkpoints are of one fit; looking at topics does not count.
 *
 * @param batch
 *   documents of a mini-batch, and of a round of communication
 * @param checkpoints
 *   iterations, in order
 */
private[bench] final class SparkOnlineLda(corpus: LdaCorpus, topics: Int, batch: Int, checkpoints: Seq[Int])
    extends LdaSystem {

  override def name: String = s"Spark online, batch $batch"

  override def exchange: Option[Exchange] = Some(Exchange(batch, averages = false))

  override def run(seed: Long): Seq[LdaCheckpoint] = {
    val clock = new ClusterClock(corpus.documents.sparkSession.sparkContext)
    val found = mutable.ArrayBuffer.empty[LdaCheckpoint]
    val start = clock.now()
    var looking = Spent(0.0, 0.0)
    def after(made: Int, model: () => Matrix): Unit = if (checkpoints.contains(made)) {
      val now = clock.now()
      val lambda = model()
      found += LdaCheckpoint(
        made.toDouble * math.min(batch.toLong, corpus.size),
        Some(made),
        now - start - looking,
        corpus.completion.judged(corpus.vocabulary, topics)(lambda.apply(_, _)))
      looking += clock.now() - now
    }
    Bench.fit(
      new RecordedLDA(after),
      corpus.documents,
      LdaProblems.common(corpus, topics, batch, seed) ++ LdaProblems.Sequential :+ ("maxIter" -> checkpoints.last): _*)
    found.toSeq
  }
}
