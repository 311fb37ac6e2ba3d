package dwell.bench.lda

import scala.concurrent.duration.FiniteDuration

import dwell.bench.NamedArguments

/**
 * What the benchmark of topics is asked for: `corpora=packages,nytimes`, `k=20,100` (numbers of topics), `systems=Dwell;gensim`
 * (beginnings of names), and the command of a program, `python=...`. See [[NamedArguments]].
 */
private[bench] final class LdaArguments(args: Seq[String]) {
  import LdaArguments._

  private val named = new NamedArguments(args)

  val corpora: Seq[String] = named.chosen("corpora", LdaCorpus.Packages +: LdaShape.all.map(_.name))(identity)
  val topics: Seq[Int] = named.list("k").fold(Topics)(_.map(_.toInt))

  def wants(system: String): Boolean = named.wants(system)

  /** How long a program may take. */
  def limit: FiniteDuration = named.limit

  def python: Option[Seq[String]] = named.command("python")
}

private[bench] object LdaArguments {
  private val Topics = Seq(20, 100, 500)
}
