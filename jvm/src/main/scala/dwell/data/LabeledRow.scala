package dwell.data

import org.apache.spark.ml.linalg.Vector

/** One row of the training data. Rows of weight 0 are validated and then left out. */
final case class LabeledRow(label: Double, weight: Double, features: Vector)

/** Names of the DataFrame columns that the rows came from; error messages use them. */
final case class ColumnNames(features: String = "features", label: String = "label", weight: String = "weight")
