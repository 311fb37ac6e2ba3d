package dwell.solver.choice

import org.scalatest.funsuite.AnyFunSuite

import dwell.fit.Timeline
import dwell.problem.{Algorithm, Hinge, Huber, Logistic, Loss, Orientation, Squared}
import dwell.record.FitFacts
import dwell.solver.TestProblem
import dwell.solver.linear.LinearSolution

/** Which method goes on after another one, and where a fit ends. */
class HandoverSuite extends AnyFunSuite {
  import HandoverSuite._
  import Method._

  test("the dual trial goes on in the primal form, and coordinate descent without a proof by L-BFGS") {
    val trial = Descent(Orientation.Dual, onTrial = true)
    val (to, why) = Handover.after(trial, ended(Squared, stalled = true)).get
    assert(to == Descent(Orientation.Primal) && why == "after 0 rounds in the dual form the gap was not closed")
    assert(Handover.after(trial, ended(Squared)).map(_._1).contains(Search))
    val slow = Some((Search, "its rounds had become slow"))
    for (in <- Orientation.all) assert(Handover.after(Descent(in), ended(Logistic)) == slow)
    val (_, done) = Handover.after(Descent(Orientation.Dual), ended(Logistic, maxRounds = 0)).get
    assert(done == "maxIter = 0 rounds were done")
  }

  test("Newton's method goes on by L-BFGS where it cannot find the optimum, or a corner is left") {
    assert(Handover.after(Newton, ended(Logistic)).isEmpty)
    assert(Handover.after(Newton, ended(Hinge)) == Some((Search, "no step lowered the objective")))
    // Also where the algorithm was asked for, and whatever the room.
    val asked = ended(Huber(1.35), stalled = true, algorithm = Some(Algorithm.Newton)).copy(hasRoom = false)
    assert(Handover.after(Newton, asked) == Some((Search, "few errors were within epsilon scales")))
    assert(
      Handover.after(Newton, ended(Squared, stalled = true)) == Some((Search, "features nearly explain one another")))
  }

  test("a fit ends with a proof, as asked for, without room, and after L-BFGS and averaging") {
    val descent = Descent(Orientation.Dual)
    assert(Handover.after(descent, ended(Logistic, converged = true)).isEmpty)
    assert(Handover.after(descent, ended(Logistic, algorithm = Some(Algorithm.CoCoA))).isEmpty)
    assert(Handover.after(descent, ended(Logistic).copy(hasRoom = false)).isEmpty)
    assert(Handover.after(Search, ended(Hinge)).isEmpty && Handover.after(Averaging, ended(Hinge)).isEmpty)
  }
}

private object HandoverSuite {
  private def ended(
      loss: Loss,
      stalled: Boolean = false,
      converged: Boolean = false,
      maxRounds: Int = 100,
      algorithm: Option[Algorithm] = None): Handover.Ended = {
    val timeline = new Timeline(_ => ())
    timeline.begin(objective = 1.0, gap = 1.0)
    val facts = FitFacts(rounds = timeline.records, objective = 1.0, dual = 0.0, converged = converged)
    val problem = TestProblem.linear.copy(algorithm = algorithm, loss = loss, maxRounds = maxRounds)
    Handover.Ended(problem, LinearSolution(Array(0.0), Array(0.0), facts, stalled = stalled), hasRoom = true)
  }
}
