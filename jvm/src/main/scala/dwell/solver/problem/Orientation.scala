package dwell.solver.problem

/** Which variables the coordinates are: coefficients of features, or dual variables of rows. */
sealed abstract class Orientation(val name: String) extends Serializable {

  /** The reason why a problem has no such form; None where it has one. */
  def objection(algorithm: Algorithm, loss: Loss, l2: Double): Option[Orientation.Objection]
}

object Orientation {

  /** Columns: coordinates are coefficients. */
  case object Primal extends Orientation("primal") {
    override def objection(algorithm: Algorithm, loss: Loss, l2: Double): Option[Objection] =
      if (algorithm.ofRows) Some(AlongRows)
      else if (loss.curvature.isInfinite) Some(NotSmooth)
      else None
  }

  /** Rows: coordinates are dual variables. Algorithms whose steps are along rows have their data in this form as well. */
  case object Dual extends Orientation("dual") {
    override def objection(algorithm: Algorithm, loss: Loss, l2: Double): Option[Objection] =
      if (l2 == 0.0 && !algorithm.ofRows) Some(NoL2) else None
  }

  /** Why a problem does not have the form of an orientation. */
  sealed trait Objection

  /** The algorithm's steps are along rows. */
  case object AlongRows extends Objection

  /** The primal form needs a bound of the loss's curvature. */
  case object NotSmooth extends Objection

  /** The dual form needs an L2 penalty. */
  case object NoL2 extends Objection

  val all: Seq[Orientation] = Seq(Primal, Dual)

  /** What may be asked for; the first leaves the choice to the fit, and is the default. */
  val choices: Seq[String] = "auto" +: all.map(_.name)

  /** One of the choices; None for the first. */
  def named(choice: String): Option[Orientation] = all.find(_.name == choice)
}
