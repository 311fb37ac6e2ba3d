package dwell.bench

import dwell.solver.Loss

/**
 * What the benchmarks of MA-SGD are asked for beside [[Bench]]: `shapes=avazu,url`, `losses=logistic`, `penalties=0,0.1`, `systems=Dwell;MLlib SGD`
 * (beginnings of names; each of the four is `all` where everything is wanted), `mllibRounds=400` (of MLlib's SGD), and the commands of programs, `mpi=...` and
 * `python=...`, whose words are separated by the character
 * U+001F.
 */
private[bench] final case class SgdArguments(
    shapes: Seq[SgdShape],
    losses: Seq[Loss],
    penalties: Seq[Double],
    systems: Option[Seq[String]],
    rounds: Int,
    programs: Map[String, Seq[String]]) {

  def wants(system: String): Boolean = systems.forall(_.exists(system.startsWith))

  /** The command with the number of its ranks in the place of `{ranks}`. */
  def ranks(command: Seq[String], workers: Int): Seq[String] = command.map(_.replace("{ranks}", workers.toString))
}

private[bench] object SgdArguments {
  private val All = "all"

  /** Those of Guo et al. */
  private val Penalties = Seq(0.0, 0.1)

  /** The goal is to need 100 times fewer. */
  private val MllibRounds = 400

  def parse(args: Seq[String]): SgdArguments = {
    val settings = args.map { arg =>
      val Array(name, value) = arg.split("=", 2)
      name -> value
    }.toMap
    def chosen[T](name: String, from: Seq[T])(nameOf: T => String): Seq[T] =
      list(settings, name).fold(from)(_.map { one =>
        from.find(nameOf(_) == one).getOrElse {
          throw new IllegalArgumentException(s"$name must be of ${from.map(nameOf).mkString(", ")}, but was '$one'")
        }
      })
    SgdArguments(
      chosen("shapes", SgdShape.all)(_.name),
      chosen("losses", SgdProblem.losses)(_.toString),
      list(settings, "penalties").fold(Penalties)(_.map(_.toDouble)),
      settings.get("systems").filter(_ != All).map(_.split(';').toSeq),
      settings.get("mllibRounds").fold(MllibRounds)(_.toInt),
      settings.view.filterKeys(Set("mpi", "python")).mapValues(_.split('\u001f').toSeq).toMap)
  }

  private def list(settings: Map[String, String], name: String): Option[Seq[String]] =
    settings.get(name).filter(_ != All).map(_.split(',').toSeq)
}
