package dwell.fit

/** How messages and updates travel between rounds. It decides where the leader runs. */
sealed abstract class Aggregation(val name: String) extends Serializable

/** Rounds that are Spark jobs. The leader runs on the driver. */
sealed abstract class JobAggregation(name: String) extends Aggregation(name)

/** The modes of aggregation. */
object Aggregation {

  /** One Spark job a round. The driver receives the vector of every worker. */
  case object Driver extends JobAggregation("driver")

  /** One Spark job with a shuffle a round. The driver receives one vector, for any number of workers. */
  case object Shuffle extends JobAggregation("shuffle")

  /** One barrier stage a fit. The leader runs in its first task. */
  case object Gang extends Aggregation("gang")

  private val all = Seq[Aggregation](Driver, Shuffle, Gang)

  /** The names that a user may set. The first is the default and leaves the choice to the fit. */
  val choices: Seq[String] = "auto" +: all.map(_.name)

  /** The aggregation of that name; None for the first choice. */
  def named(choice: String): Option[Aggregation] = all.find(_.name == choice)
}
