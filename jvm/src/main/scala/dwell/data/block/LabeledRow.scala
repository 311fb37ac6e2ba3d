package dwell.data.block

import org.apache.spark.ml.linalg.Vector

/** One row of the training data. Rows of weight 0 are validated and then left out. */
final case class LabeledRow(label: Double, weight: Double, features: Vector)
