package dwell.ml.classification

/** Which labels are trained on natively: 0 and 1, both of them. Spark has checked that they are class numbers. */
private[classification] object BinaryLabels {

  /** Why the classes that the label column's metadata names are left to Spark. */
  def objection(numClasses: Option[Int]): Option[String] =
    numClasses
      .filter(_ != 2)
      .map(n => s"the metadata of the label column names $n ${if (n == 1) "class" else "classes"}")

  /** Why these labels are left to Spark. */
  def objection(labels: Array[Double]): Option[String] = {
    val largest = labels.max
    if (largest > 1.0) Some(s"there are ${largest.toInt + 1} classes")
    else if (labels.forall(_ == labels.head)) Some("all labels are of one class")
    else None
  }
}
