package dwell.bench.sgd

import scala.concurrent.duration.FiniteDuration

import dwell.bench.NamedArguments
import dwell.problem.MarginLoss

/**
 * What the benchmarks of MA-SGD are asked for: `shapes=avazu,url`, `losses=logistic`, `penalties=0,0.1`, `systems=Dwell;MLlib SGD`
 * (beginnings of names), `mllibRounds=400` (of MLlib's SGD), and the commands of programs, `mpi=...` and `python=...`. See
 * [[NamedArguments]].
 */
private[bench] final class SgdArguments(args: Seq[String]) {
  import SgdArguments._

  private val named = new NamedArguments(args)

  val shapes: Seq[SgdShape] = named.chosen("shapes", SgdShape.all)(_.name)
  val losses: Seq[MarginLoss] = named.chosen("losses", SgdProblem.losses)(_.toString)
  val penalties: Seq[Double] = named.list("penalties").fold(Penalties)(_.map(_.toDouble))
  val rounds: Int = named.number("mllibRounds", MllibRounds)

  def wants(system: String): Boolean = named.wants(system)

  /** How long a program may take. */
  def limit: FiniteDuration = named.limit

  def program(name: String): Option[Seq[String]] = named.command(name)

  /** The command with the number of its ranks instead of `{ranks}`. */
  def ranks(command: Seq[String], workers: Int): Seq[String] = command.map(_.replace("{ranks}", workers.toString))
}

private[bench] object SgdArguments {

  /** Those of Guo et al. */
  private val Penalties = Seq(0.0, 0.1)

  /** The goal is to need 100 times fewer. */
  private val MllibRounds = 400
}
