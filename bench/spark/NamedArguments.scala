package dwell.bench

import scala.concurrent.duration._

/**
 * What a benchmark is asked for beside [[Bench]], as `name=value`: lists have commas, or semicolons between names of systems, and
 * are `all` where everything is wanted; commands of programs have the character U+001F between their words, and
 * `programMinutes` is how long they may take.
 */
private[bench] final class NamedArguments(args: Seq[String]) {
  import NamedArguments._

  private val settings = args.map { arg =>
    val Array(name, value) = arg.split("=", 2)
    name -> value
  }.toMap

  def number(name: String, otherwise: Int): Int = settings.get(name).fold(otherwise)(_.toInt)

  def list(name: String): Option[Seq[String]] = settings.get(name).filter(_ != All).map(_.split(',').toSeq)

  /** Those of `from` and `others` that are named, or all of `from`. */
  def chosen[T](name: String, from: Seq[T], others: => Seq[T] = Nil)(nameOf: T => String): Seq[T] =
    list(name).fold(from)(_.map { one =>
      (from ++ others).find(nameOf(_) == one).getOrElse {
        throw new IllegalArgumentException(
          s"$name must be of ${(from ++ others).map(nameOf).mkString(", ")}, but was '$one'")
      }
    })

  /** Whether `systems` has a beginning of that name. */
  def wants(system: String): Boolean =
    settings.get("systems").filter(_ != All).forall(_.split(';').exists(system.startsWith))

  def command(name: String): Option[Seq[String]] = settings.get(name).map(_.split('\u001f').toSeq)

  /** See [[OtherProgram.execute]]. */
  def limit: FiniteDuration = settings.get("programMinutes").fold(OtherProgram.Limit)(_.toInt.minutes)
}

private[bench] object NamedArguments {
  private val All = "all"
}
