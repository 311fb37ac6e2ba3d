package org.apache.spark.ml.clustering

import org.apache.spark.mllib.clustering.{LDAOptimizer, RecordedOptimizer}
import org.apache.spark.mllib.linalg.Matrix

/** Spark's estimator, whose topics are looked at after each iteration: see [[RecordedOptimizer]]. */
class RecordedLDA(after: (Int, () => Matrix) => Unit) extends LDA {
  override private[clustering] def getOldOptimizer: LDAOptimizer = new RecordedOptimizer(super.getOldOptimizer, after)
}
