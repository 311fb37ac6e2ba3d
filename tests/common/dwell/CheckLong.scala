package dwell

import scala.collection.mutable

/**
 * What `check` leaves to `checkLong`, which sets DWELL_LONG and runs everything. Both run the same code: `check` runs fewer
 * cases of a matrix. Each object prints how many, for build-support/run_group.py.
 */
object CheckLong {

  private[dwell] val everything = sys.env.contains("DWELL_LONG")

  /**
   * Cases of a matrix, each a tuple or case class of factors. `check` runs as many as bring every two values of two factors
   * together at least once (pairwise testing), in the order given.
   */
  def pairsOf[C <: Product](cases: Seq[C]): Seq[C] = announced(cases)(covering(_)(pairs))

  /** The same where a case takes many seconds: `check` runs as many as bring every value of a factor once. */
  def valuesOf[C <: Product](cases: Seq[C]): Seq[C] =
    announced(cases)(covering(_)(_.productIterator.zipWithIndex.toSeq))

  /** The same as [[pairsOf]] for what is gone through within cases, and is therefore not counted as cases. */
  def pairsWithin[C <: Product](variants: Seq[C]): Seq[C] = covering(variants)(pairs)

  private def covering[C, T](cases: Seq[C])(targets: C => Seq[T]): Seq[C] = {
    val uncovered = mutable.LinkedHashSet(cases.flatMap(targets): _*)
    val chosen = mutable.Set.empty[C]
    while (!everything && uncovered.nonEmpty) {
      val next = cases.maxBy(c => targets(c).count(uncovered)) // the first of the best
      chosen += next
      uncovered --= targets(next)
    }
    cases.filter(c => everything || chosen(c))
  }

  private def announced[C](cases: Seq[C])(choose: Seq[C] => Seq[C]): Seq[C] = {
    val run = choose(cases)
    announce(cases.size - run.size)
    run
  }

  /** So many cases that `check` leaves out. */
  def only(cases: Int)(body: => Unit): Unit = if (everything) body else announce(cases)

  private def announce(cases: Int): Unit = if (cases > 0) println(s"$cases more in checkLong")

  /** Values of two factors, each with its position. */
  private def pairs(c: Product): Seq[(Int, Any, Int, Any)] = {
    val values = c.productIterator.toSeq
    for (i <- values.indices; j <- i + 1 until values.size) yield (i, values(i), j, values(j))
  }
}
