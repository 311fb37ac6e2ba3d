package dwell.problem

/** The labels that a loss is defined for. */
sealed abstract class Labels extends Serializable {

  /** The labels that stand for the labels of the data; the same array if they are the same. */
  def of(labels: Array[Double]): Array[Double] = labels
}

/** The kinds of labels. */
object Labels {

  /** Any finite number. */
  case object Real extends Labels

  /** -1 or 1, for the two classes that Spark calls 0 and 1. */
  case object Signed extends Labels {
    override def of(labels: Array[Double]): Array[Double] = {
      val signs = new Array[Double](labels.length)
      var i = 0
      while (i < signs.length) {
        signs(i) = if (labels(i) > 0.0) 1.0 else -1.0
        i += 1
      }
      signs
    }
  }

  /** The numbers of classes, 0 to `count` - 1. */
  final case class Classes(count: Int) extends Labels
}
