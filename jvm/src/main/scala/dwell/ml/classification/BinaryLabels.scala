package dwell.ml.classification

import dwell.data.TrainingRows

/** Checks that the labels are 0 and 1, and that both occur. Spark has already checked that they are class numbers. */
private[classification] object BinaryLabels {

  /** Why Spark's own code must train, judged by the number of classes in the label column's metadata. */
  def objection(numClasses: Option[Int]): Option[String] =
    numClasses
      .filter(_ != 2)
      .map(n => s"the metadata of the label column names $n ${if (n == 1) "class" else "classes"}")

  /** Why Spark's own code must train, judged by the labels. */
  def objection(data: TrainingRows): Option[String] =
    if (data.largestLabel > 1.0) Some(s"there are ${data.largestLabel.toInt + 1} classes")
    else if (data.labelConstant) Some("all labels are of one class")
    else None
}
