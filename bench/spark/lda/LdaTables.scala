package dwell.bench.lda

import dwell.bench.Bench

/**
 * What Guo et al. 2021 show of LDA, from histories that are there anyway: table 2, perplexity by the documents of a round, where
 * these are one step or many that are averaged; table 5, documents in the same seconds; figure 6, rounds to the same perplexity.
 */
private[bench] object LdaTables {

  /** For the file of results: what tells the tables apart. */
  val Table = "table"

  /**
   * Table 2, to be read: histories have all of it. Of systems whose workers come together, and the documents that two of them at
   * least looked at their topics after.
   */
  def byRound(histories: Seq[LdaHistory]): String = {
    val rows = histories.filter(_.exchange.nonEmpty).sortBy(h => h.exchange.map(e => (e.averages, e.documents)))
    val visited = rows.flatMap(_.checkpoints.map(_.documents)).groupBy(identity).filter(_._2.size > 1).keys.toSeq.sorted
    val header = f"${"perplexity after documents"}%-46s" + visited.map(d => f"$d%9.0f").mkString
    val lines = rows.map { h =>
      val cells = visited.map { documents =>
        h.checkpoints.indexWhere(_.documents == documents) match {
          case -1 => f"${"-"}%9s"
          case i => f"${h.perplexities(i)}%9.1f"
        }
      }
      val Exchange(documents, averages) = h.exchange.get
      f"${h.system}%-34s${if (averages) "averages" else "one step"} $documents%-6d" + cells.mkString
    }
    (header +: lines).mkString("\n")
  }

  /**
   * Table 5.
   *
   * @return
   *   the seconds of the system that was the first to come to its last checkpoint, and the documents of each system by then
   */
  def inTheSameSeconds(histories: Seq[LdaHistory]): (Double, Seq[(LdaHistory, Double)]) = {
    val seconds = histories.map(_.last.spent.seconds).min
    (seconds, histories.map(h => h -> h.documentsWithin(seconds)))
  }

  /**
   * Figure 6.
   *
   * @param targets
   *   systems: to where they come at the end
   * @return
   *   for each of them what each system, as far as its workers come together, takes to get there
   */
  def toPerplexities(
      histories: Seq[LdaHistory],
      targets: Seq[LdaHistory]): Seq[(LdaHistory, Seq[(LdaHistory, Option[LdaCheckpoint])])] =
    targets.map { target =>
      target -> histories.filter(_.exchange.nonEmpty).map(h => h -> h.first(target.perplexities.last))
    }

  /** Prints the tables and adds them to the results. */
  def add(bench: Bench, about: Seq[(String, Any)], histories: Seq[LdaHistory], targets: Seq[LdaHistory]): Unit = {
    println(byRound(histories))
    val (seconds, all) = inTheSameSeconds(histories)
    println(f"documents in $seconds%.2f seconds, in proportion between checkpoints")
    all.foreach { case (h, documents) =>
      println(f"${h.system}%-49s$documents%9.0f")
      bench.add(
        about ++ Seq(
          Table -> "documents in the same seconds",
          "system" -> h.system,
          "seconds" -> seconds,
          "documentsVisited" -> documents): _*)
    }
    for ((target, systems) <- toPerplexities(histories, targets); (h, reached) <- systems) {
      println(
        f"to perplexity ${target.perplexities.last}%.1f of ${target.system}: ${h.system} " +
          reached.fold("not reached")(c => f"${c.rounds.get}%d rounds, ${c.spent.seconds}%.2f s"))
      bench.add(
        about ++ Seq(
          Table -> "rounds to the same perplexity",
          "peer" -> target.system,
          "target" -> target.perplexities.last,
          "system" -> h.system,
          "rounds" -> reached.flatMap(_.rounds),
          "seconds" -> reached.map(_.spent.seconds)): _*)
    }
  }
}
