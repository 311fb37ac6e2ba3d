package org.apache.spark.mllib.clustering

import org.apache.spark.mllib.linalg.{Matrix, Vector}
import org.apache.spark.rdd.RDD

/**
 * An optimizer whose topics are looked at after each iteration. Its members are private to Spark.
 *
 * @param after
 *   takes the number of iterations made, and the topics: a row for each word
 */
private[spark] final class RecordedOptimizer(optimizer: LDAOptimizer, after: (Int, () => Matrix) => Unit)
    extends LDAOptimizer {
  private var made = 0

  override private[clustering] def initialize(docs: RDD[(Long, Vector)], lda: LDA): LDAOptimizer = {
    optimizer.initialize(docs, lda)
    this
  }

  override private[clustering] def next(): LDAOptimizer = {
    optimizer.next()
    made += 1
    after(made, () => optimizer.getLDAModel(Array.emptyDoubleArray).topicsMatrix)
    this
  }

  override private[clustering] def getLDAModel(iterationTimes: Array[Double]): LDAModel =
    optimizer.getLDAModel(iterationTimes)
}
