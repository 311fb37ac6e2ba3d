package dwell.ml.tuning.metric

/** The columns of training rows; None for rows that all have weight 1. */
private[tuning] final case class TrainingColumns(features: String, label: String, weight: Option[String])
