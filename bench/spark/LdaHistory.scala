package dwell.bench

/** A run of a system: where it was on the way, and how good that was. */
private[bench] final case class LdaHistory(system: String, checkpoints: Seq[LdaCheckpoint], perplexities: Seq[Double]) {

  def best: Double = perplexities.min

  def last: LdaCheckpoint = checkpoints.last

  def documentsACpuSecond: Double = last.documents / last.spent.cpu

  /** The first of the checkpoints that is as good. */
  def first(perplexity: Double): Option[LdaCheckpoint] =
    perplexities.indices.find(perplexities(_) <= perplexity).map(checkpoints(_))

  /** For the file of results. */
  def results: Seq[(String, Any)] = Seq(
    "system" -> system,
    "documentsVisited" -> checkpoints.map(_.documents),
    "rounds" -> checkpoints.flatMap(_.rounds),
    "cpuSeconds" -> checkpoints.map(_.spent.cpu),
    "seconds" -> checkpoints.map(_.spent.seconds),
    "perplexities" -> perplexities)

  def describe: String = checkpoints.indices
    .map { i =>
      val c = checkpoints(i)
      f"  ${c.documents}%8.0f documents${c.rounds.fold("")(r => f", $r%3d rounds")}, ${c.spent.cpu}%7.2f CPU s, " +
        f"${c.spent.seconds}%7.2f s: perplexity ${perplexities(i)}%.1f"
    }
    .mkString(s"$system\n", "\n", "")
}

private[bench] object LdaHistory {
  def judge(system: String, checkpoints: Seq[LdaCheckpoint], completion: DocumentCompletion): LdaHistory =
    LdaHistory(system, checkpoints, checkpoints.map(c => completion.perplexity(c.topics)))
}
