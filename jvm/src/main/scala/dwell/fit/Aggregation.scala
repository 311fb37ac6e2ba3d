package dwell.fit

/** How messages and updates travel between rounds, and so where the rounds are led from. */
sealed abstract class Aggregation(val name: String) extends Serializable

/** Rounds that are Spark jobs, led by the driver. */
sealed abstract class JobAggregation(name: String) extends Aggregation(name)

object Aggregation {

  /** One Spark job a round, led by the driver. */
  case object Driver extends JobAggregation("driver")

  /** One Spark job with a shuffle a round, led by the driver, to which one vector comes however many workers there are. */
  case object Shuffle extends JobAggregation("shuffle")

  /** One barrier stage a fit, led by its first task. */
  case object Gang extends Aggregation("gang")

  private val all = Seq[Aggregation](Driver, Shuffle, Gang)

  /** What may be asked for; the first leaves the choice to the fit, and is the default. */
  val choices: Seq[String] = "auto" +: all.map(_.name)

  /** One of the choices; None for the first. */
  def named(choice: String): Option[Aggregation] = all.find(_.name == choice)
}
