package dwell.bench.lda

import java.lang.management.ManagementFactory

/**
 * A run of a system: where it was on the way, and how good that was.
 *
 * @param exchange
 *   see [[LdaSystem.exchange]]
 * @param load
 *   of the machine, before the run
 */
private[bench] final case class LdaHistory(
    system: String,
    exchange: Option[Exchange],
    load: Double,
    checkpoints: Seq[LdaCheckpoint],
    perplexities: Seq[Double]) {

  def best: Double = perplexities.min

  def last: LdaCheckpoint = checkpoints.last

  def documentsACpuSecond: Double = last.documents / last.spent.cpu

  /** The first of the checkpoints that is as good. */
  def first(perplexity: Double): Option[LdaCheckpoint] =
    perplexities.indices.find(perplexities(_) <= perplexity).map(checkpoints(_))

  /** Documents visited within so many seconds, which the last checkpoint took at least; between checkpoints in proportion. */
  def documentsWithin(seconds: Double): Double = {
    val points = (0.0, 0.0) +: checkpoints.map(c => (c.spent.seconds, c.documents))
    val ((start, before), (end, after)) = points.zip(points.tail).find(_._2._1 >= seconds).get
    before + (after - before) * (seconds - start) / (end - start)
  }

  /** For the file of results. */
  def results: Seq[(String, Any)] = Seq(
    "system" -> system,
    "documentsARound" -> exchange.map(_.documents),
    "averages" -> exchange.map(_.averages),
    "load" -> load,
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
  def of(system: LdaSystem, seed: Long, completion: DocumentCompletion): LdaHistory = {
    val load = ManagementFactory.getOperatingSystemMXBean.getSystemLoadAverage
    val checkpoints = system.run(seed)
    LdaHistory(system.name, system.exchange, load, checkpoints, checkpoints.map(c => completion.perplexity(c.topics)))
  }
}
