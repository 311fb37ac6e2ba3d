package dwell.bench.lda

import dwell.LimitedSuite
import dwell.bench.Spent

/** Tables of histories whose numbers are known without them. */
class LdaTablesSuite extends LimitedSuite {

  /** @param checkpoints documents, rounds, seconds and perplexity */
  private def history(system: String, exchange: Option[Exchange])(
      checkpoints: (Double, Int, Double, Double)*): LdaHistory =
    LdaHistory(
      system,
      exchange,
      load = 0.0,
      checkpoints.map { case (documents, rounds, seconds, _) =>
        LdaCheckpoint(documents, exchange.map(_ => rounds), Spent(2.0 * seconds, seconds), topics = null)
      },
      checkpoints.map(_._4))

  private val averaging =
    history("Dwell", Some(Exchange(16000, averages = true)))((16000.0, 1, 4.0, 900.0), (32000.0, 2, 6.0, 500.0))
  private val oneStep =
    history("one step", Some(Exchange(4000, averages = false)))((4000.0, 1, 5.0, 950.0), (16000.0, 4, 20.0, 600.0))
  private val program = history("program", None)((16000.0, 0, 12.0, 700.0))
  private val all = Seq(averaging, oneStep, program)

  test("documents in the same seconds end with the first system that ends") {
    val (seconds, documents) = LdaTables.inTheSameSeconds(all)
    assert(seconds == 6.0)
    // The first is at its end, the second a fifteenth of the way from its first checkpoint to its second, and the
    // third half of the way to its first.
    assert(
      documents.map { case (h, d) => (h.system, d) } ==
        Seq("Dwell" -> 32000.0, "one step" -> (4000.0 + 12000.0 / 15.0), "program" -> 8000.0))
  }

  test("rounds to the same perplexity are those of the systems with rounds") {
    val Seq((target, systems)) = LdaTables.toPerplexities(all, Seq(oneStep))
    assert(target == oneStep)
    assert(
      systems.map { case (h, at) => (h.system, at.flatMap(_.rounds)) } ==
        Seq("Dwell" -> Some(2), "one step" -> Some(4)))
    val Seq((_, toBest)) = LdaTables.toPerplexities(all, Seq(averaging))
    assert(toBest.map(_._2.isEmpty) == Seq(false, true))
  }

  test("perplexities are beside one another where the documents visited are as many") {
    val lines = LdaTables.byRound(all).split('\n').map(_.trim.split(" +").toSeq)
    assert(
      lines.toSeq == Seq(
        Seq("perplexity", "after", "documents", "16000"),
        Seq("one", "step", "one", "step", "4000", "600.0"),
        Seq("Dwell", "averages", "16000", "900.0")))
  }
}
