package dwell.solver.average

import dwell.LimitedSuite

/** The decisions that follow from the objectives of the rounds. */
class AveragingProgressSuite extends LimitedSuite {

  private val Tolerance = 1e-6

  private def start: AveragingProgress = starting(None)
  private def starting(growth: Option[Growth]): AveragingProgress =
    AveragingProgress.start(objective = 1.0, eta0 = 0.8, growth, partitions = 2)

  private def met(objective: Double, diverged: Boolean = false, steps: Long = 0L): AveragedRound =
    AveragedRound(objective * 10.0, 10.0, 0.0, diverged, Array(steps, steps), Array(steps, steps))

  private def after(from: AveragingProgress, objectives: Double*): AveragingProgress =
    objectives.foldLeft(from)((progress, f) => progress.after(met(f), 1, Tolerance))

  test("rounds go on from the model that the last one made, and the two before are kept") {
    val progress = after(start, 0.9, 0.8, 0.7)
    assert((progress.current, progress.begun, progress.before, progress.next) == ((3L, 3L, 2L, 4L)))
    assert(progress.eta0 == 0.8 && progress.objective == 0.7 && progress.note.isEmpty && !progress.exhausted)
  }

  test("a rise halves the step, and goes back to where the epoch began; the next one to where the epoch before began") {
    val good = after(start, 0.9, 0.8)
    val risen = after(good, 0.9)
    assert((risen.current, risen.eta0, risen.next) == ((2L, 0.4, 4L)))
    assert(risen.rounds == 3, "one that is taken back was made all the same")
    assert(risen.note.contains("objective rose to 0.9") && risen.note.contains("halved to 0.4"))
    val again = after(risen, 0.9)
    assert((again.current, again.eta0) == ((1L, 0.2)))
    // Shorter steps from an older model are compared with the objective reached by that model's round.
    assert(again.objective == 0.9 && after(again, 0.85).note.isEmpty)
  }

  test("descent that diverges goes back at once, and the rows that it has visited do not count for the step size") {
    val good = start.after(met(0.9, steps = 5L), 4, Tolerance)
    assert(good.steps.toSeq == Seq(5L, 5L) && good.begun == 0L)
    val diverged = good.after(met(Double.PositiveInfinity, diverged = true, steps = 9L), 4, Tolerance)
    assert((diverged.current, diverged.eta0) == ((0L, 0.4)))
    assert(diverged.steps.toSeq == Seq(0L, 0L) && diverged.cursors.toSeq == Seq(9L, 9L))
    assert(diverged.note.contains("diverged"))
  }

  test("a step that may grow doubles where progress is modest, up to its bound, and no more once it was halved") {
    val growing = starting(Some(Growth(averaged = 0.8, most = 5.0)))
    val etas = Seq(0.9, 0.88, 0.86, 0.85, 0.84).scanLeft(growing)(after(_, _)).map(_.eta0)
    assert(etas == Seq(0.8, 0.8, 1.6, 3.2, 5.0, 5.0), "a tenth in the first epoch is much, the others are modest")
    assert(after(growing, 0.9, 0.9).eta0 == 0.8, "nor without progress")
    val risen = after(growing, 0.98, 0.96, 1.1)
    assert((risen.eta0, risen.current) == ((1.6, 2L)), "the step that was good goes on from where it led")
    assert(after(risen, 0.95, 0.94).eta0 == 1.6)
    val still = after(growing, 0.98, 0.98, 0.98)
    assert(still.eta0 == 0.8 && after(still, 0.97, 0.96).eta0 == 0.8)
    assert(after(starting(Some(Growth(averaged = 0.8, most = 0.1))), 0.98).eta0 == 0.8, "a bound shortens nothing")
    assert(after(start, 0.98, 0.96).eta0 == 0.8, "a step of the user's stays")
  }

  test("what is averaged stands longer steps than what was searched: they grow however large the progress") {
    val growing = starting(Some(Growth(averaged = 3.0, most = 100.0)))
    assert(Seq(0.5, 0.2, 0.1, 0.05).scanLeft(growing)(after(_, _)).map(_.eta0) == Seq(0.8, 1.6, 3.2, 3.2, 3.2))
    assert(after(growing, 0.5, 0.5).eta0 == 1.6, "but not without any")
    assert(after(growing, 0.5, 0.6, 0.4).eta0 == 0.8, "and not again after a rise")
  }

  test("rounds of a part of an epoch let a step grow once an epoch") {
    val half = starting(Some(Growth(averaged = 0.8, most = 5.0))).after(met(1.0), 2, Tolerance)
    assert(half.eta0 == 0.8 && half.after(met(0.96), 2, Tolerance).eta0 == 1.6)
  }

  test("an objective that is no number counts as a rise") {
    assert(after(start, Double.NaN).eta0 == 0.4)
  }

  test("rounds of a part of an epoch are judged together") {
    val first = start.after(met(1.5), 2, Tolerance)
    assert(first.note.isEmpty && first.current == 1L && first.begun == 0L && first.seen == 1.5)
    val second = first.after(met(0.3), 2, Tolerance)
    assert(second.objective == 0.9 && second.begun == 2L && second.before == 0L)
  }

  test(
    "without progress in two epochs the step is halved where the rounds stand; it ends when that changes nothing twice") {
    val still = after(start, 0.9, 0.9)
    assert(still.eta0 == 0.8)
    val halved = after(still, 0.9)
    assert(halved.eta0 == 0.4 && halved.current == 3L && halved.note.contains("little progress") && !halved.exhausted)
    assert(after(halved, 0.9, 0.9, 0.9, 0.9).exhausted)
    // A change counts in either direction: workers see other losses with other steps.
    assert(!after(halved, 0.905, 0.905, 0.905, 0.905).exhausted)
  }

  test("a small rise is noise, and no reason to go back") {
    val progress = after(start, 0.9, 0.901)
    assert(progress.current == 2L && progress.eta0 == 0.8 && progress.objective == 0.9)
  }

  test("who goes on from a recovered model has that one alone") {
    val found = after(start, 0.9, 0.8).from(7L)
    assert((found.current, found.begun, found.before, found.next) == ((7L, 7L, 7L, 8L)) && found.objective == 0.8)
    assert(found.rounds == 2)
  }
}
