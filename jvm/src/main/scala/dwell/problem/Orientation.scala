package dwell.problem

/** What the coordinates of coordinate descent stand for: coefficients of features, or dual variables of rows. */
sealed abstract class Orientation(val name: String) extends Serializable {

  /** The reason why a problem has no form in this orientation; None if it has one. */
  def objection(loss: Loss, penalty: Penalty): Option[Orientation.Objection]
}

/** The orientations, and the objections against them. */
object Orientation {

  /** Columns: coordinates are coefficients. */
  case object Primal extends Orientation("primal") {
    override def objection(loss: Loss, penalty: Penalty): Option[Objection] =
      if (loss.curvature.isInfinite) Some(NotSmooth) else None
  }

  /** Rows: coordinates are dual variables. */
  case object Dual extends Orientation("dual") {
    override def objection(loss: Loss, penalty: Penalty): Option[Objection] =
      if (penalty.l2 == 0.0) Some(NoL2) else None
  }

  /** The most rows for which the primal form is chosen: its leader holds several numbers for each of them. */
  val PrimalRows = 1000000L

  /** A reason why a problem has no form in an orientation. */
  sealed trait Objection

  /** The primal form needs a bound of the loss's curvature. */
  case object NotSmooth extends Objection

  /** The dual form needs an L2 penalty. */
  case object NoL2 extends Objection

  /** Both orientations. */
  val all: Seq[Orientation] = Seq(Primal, Dual)

  /** The names that a user may set. The first is the default and leaves the choice to the fit. */
  val choices: Seq[String] = "auto" +: all.map(_.name)

  /** The orientation of that name; None for the first choice. */
  def named(choice: String): Option[Orientation] = all.find(_.name == choice)
}
