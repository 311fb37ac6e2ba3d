package dwell.solver.problem

import dwell.base.Arguments

/** The labels that a loss is defined for. */
sealed abstract class Labels extends Serializable {

  /**
   * Refuses labels that the loss is not defined for.
   *
   * @param loss
   *   name of the loss, for the message
   * @throws IllegalArgumentException
   *   if the loss is not defined for a label
   */
  def check(labels: Array[Double], loss: String): Unit
}

/** The kinds of labels. */
object Labels {

  /** Any finite number. */
  case object Real extends Labels {
    override def check(labels: Array[Double], loss: String): Unit = Arguments.finite("labels", labels)
  }

  /** -1 or 1, for the two classes that Spark calls 0 and 1. */
  case object Signed extends Labels {
    override def check(labels: Array[Double], loss: String): Unit =
      refuse(labels, loss, "-1 or 1")(y => y == 1.0 || y == -1.0)

    /** The label that stands for Spark's label 0 or 1. */
    def of(label: Double): Double = 2.0 * label - 1.0
  }

  /** The numbers of classes, 0 to `count` - 1. */
  final case class Classes(count: Int) extends Labels {
    override def check(labels: Array[Double], loss: String): Unit =
      refuse(labels, loss, s"whole numbers, 0 to ${count - 1}")(y => y >= 0.0 && y < count && y == math.rint(y))
  }

  private def refuse(labels: Array[Double], loss: String, expected: String)(suits: Double => Boolean): Unit =
    labels.find(!suits(_)).foreach { y =>
      throw new IllegalArgumentException(s"a label is $y: for the $loss labels must be $expected")
    }
}
