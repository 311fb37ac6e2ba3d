package dwell.ml.classification

/** Checks that the labels are 0 and 1, and that both occur. Spark has already checked that they are class numbers. */
private[classification] object BinaryLabels {

  /** Why Spark's own code must train, judged by the number of classes in the label column's metadata. */
  def objection(numClasses: Option[Int]): Option[String] =
    numClasses
      .filter(_ != 2)
      .map(n => s"the metadata of the label column names $n ${if (n == 1) "class" else "classes"}")

  /** Why Spark's own code must train, judged by the labels, of which there is at least one. */
  def objection(labels: Array[Double]): Option[String] = {
    val largest = labels.max
    if (largest > 1.0) Some(s"there are ${largest.toInt + 1} classes")
    else if (labels.forall(_ == labels.head)) Some("all labels are of one class")
    else None
  }
}
