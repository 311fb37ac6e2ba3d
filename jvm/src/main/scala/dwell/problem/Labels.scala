package dwell.problem

/** The labels that a loss is defined for. */
sealed abstract class Labels extends Serializable

/** The kinds of labels. */
object Labels {

  /** Any finite number. */
  case object Real extends Labels

  /** -1 or 1, for the two classes that Spark calls 0 and 1. */
  case object Signed extends Labels {

    /** The label that stands for Spark's label 0 or 1. */
    def of(label: Double): Double = 2.0 * label - 1.0
  }

  /** The numbers of classes, 0 to `count` - 1. */
  final case class Classes(count: Int) extends Labels
}
