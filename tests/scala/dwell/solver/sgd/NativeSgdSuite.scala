package dwell.solver.sgd

import scala.util.Random

import dwell.jni.ResultHeader
import dwell.data.TestData.Values
import dwell.fit.{Backend, SolverSelection}
import dwell.jni.Cancellation
import dwell.solver.cd.CdSolverTests.nextFit
import dwell.solver.cd.contract.CdSolver
import dwell.solver.cd.worker.CdSolvers
import dwell.solver.problem.{Logistic, Loss, MarginLoss, Softmax, Squared, StepSchedule}
import dwell.solver.sgd.contract.{SgdSolver}
import dwell.solver.sgd.jvm.JvmSgd
import dwell.solver.sgd.worker.SgdSolvers

/** The native solver of stochastic gradient descent. If the library does not load, these tests fail; they are not
 * skipped. */
class NativeSgdSuite extends SgdSolverTests {
  import SgdSolverTests.{comparable, kinds, losses}

  private lazy val native: CdSolver = CdSolvers.of(SolverSelection("native", fallbackIsError = true))

  override protected lazy val solver: SgdSolver = {
    // It loads the library.
    assert(native.name == "native")
    SgdSolvers.of(Backend.Native)
  }

  /** Whether both solvers give the same bytes. */
  private def exact(loss: Loss): Boolean = loss match {
    case Logistic | Softmax(_) => false
    case _: MarginLoss => true
  }

  /** Exponentials and logarithms of StrictMath and the C library differ in the last bit. */
  private val MathTolerance = 1e-12

  private def same(c: SgdCase, call: SgdSolver => Array[Byte], about: String): Unit = {
    val Seq(found, expected) = Seq(solver, JvmSgd).map(call)
    if (exact(c.problem.loss)) assert(comparable(found) == comparable(expected), about)
    else {
      (0 until ResultHeader.FIRST_FREE).filter(_ != ResultHeader.SOLVER_NANOS).foreach { slot =>
        val Seq(a, b) = Seq(found, expected).map(ResultHeader.get(_, slot))
        assert(a == b || math.abs(a - b) <= MathTolerance * (1.0 + math.abs(b)), s"$about, slot $slot: $a, $b")
      }
      val (a, b) = (SgdCase.vector(found), SgdCase.vector(expected))
      val size = b.map(math.abs).maxOption.getOrElse(0.0)
      assert(a.zip(b).forall { case (u, v) => math.abs(u - v) <= MathTolerance * size }, about)
    }
  }

  for ((loss, seed) <- losses.zipWithIndex) test(s"native and JVM results are the same on random problems: $loss") {
    val random = new Random(seed)
    def one[T](choices: T*): T = choices(random.nextInt(choices.length))
    for (_ <- 0 until 150) {
      val l2 = one(0.0, 1e-4, 0.05, 2.0)
      val c = new SgdCase(
        random.nextInt(),
        loss,
        rows = one(1, 2, 7, 60, 300, 700),
        features = one(1, 3, 20, 100),
        density = one(0.05, 0.2, 0.7),
        values = one[Values](Values.Ones, Values.Singles, Values.Doubles),
        l1 = one(0.0, 1e-5, 0.02, 0.3),
        l2 = l2,
        weighted = random.nextBoolean(),
        scaled = random.nextBoolean(),
        intercept = random.nextBoolean(),
        dense = random.nextBoolean())
      if (c.data.partition.numRows > 0) {
        // If the two differ in their last bits, long steps would amplify the difference.
        val eta0 = if (exact(loss)) one(1e-3, 0.05, 0.4) else one(1e-3, 0.02)
        val schedule = StepSchedule(one(kinds: _*), eta0, one(0.0, 1e-3, 0.5))
        val r = c.descent.copy(
          seed = random.nextLong(),
          schedule = schedule,
          budget = one(1L, 10L, 100L, 2000L),
          cursor = one(0L, 5L, 1000L),
          steps = one(0L, 9L, 1000000L),
          running = random.nextBoolean(),
          share = one(0.25, 1.0, 0.3))
        same(c, c.descend(_, r), s"$c, $r")
        val candidates = Array(1e-3, 0.02, 0.049)
        val search = c.search.copy(
          seed = r.seed,
          schedule = schedule,
          candidates = if (exact(loss)) candidates :+ 0.4 else candidates,
          budget = one(1L, 10L, 1000L),
          cursor = r.cursor,
          steps = r.steps)
        same(c, c.search(_, search), s"$c, $search")
        val gradient = c.evaluation.copy(factor = one(1.0, -0.3))
        same(c, c.evaluate(_, gradient), s"$c, $gradient")
        val numbers = loss match {
          case Squared => Array(random.nextGaussian())
          case _: MarginLoss => Array.fill(2)(random.nextDouble())
          case Softmax(classes) => Array.fill(classes + 1)(random.nextDouble())
        }
        same(c, c.evaluate(_, gradient.copy(dual = Some(numbers))), s"$c, ${numbers.toSeq}")
      }
      native.free(c.fit)
    }
  }

  test("native and JVM results are the same when models are renormalised, and when they diverge") {
    for {
      loss <- losses.filter(exact)
      running <- Seq(false, true)
      l1 <- Seq(0.0, 1e-4, 0.1)
      (l2, eta0) <- Seq((10.0, 0.05), (1.0, 0.999), (0.0, 1e5))
      dense <- Seq(false, true)
    } {
      val c = new SgdCase(31, loss, l1 = l1, l2 = l2, dense = dense)
      val schedule = StepSchedule(StepSchedule.Constant, eta0, 0.0)
      val r = c.descent.copy(schedule = schedule, running = running, budget = 3000L)
      same(c, c.descend(_, r), s"$c, $r")
      native.free(c.fit)
    }
    for (running <- Seq(false, true)) {
      // The history fills up once.
      val c = new SgdCase(32, losses.head, rows = 5, features = 4, density = 0.5, l1 = 1e-3, l2 = 0.0)
      val r = c.descent.copy(running = running, budget = 1050000L)
      same(c, c.descend(_, r), s"$c, $r")
      native.free(c.fit)
    }
  }

  test("native and JVM results are the same where native work is cut into slices") {
    for {
      loss <- Seq(losses.head, losses.last)
      (l1, running) <- Seq((0.0, false), (1e-4, true))
      dense <- Seq(false, true)
    } {
      val c = new SgdCase(34, loss, rows = 2000, features = 300, density = 0.3, l1 = l1, l2 = 1e-3, dense = dense)
      val schedule = StepSchedule(StepSchedule.Inverse, 1e-3, 0.1)
      var polls = 0
      val counting: Cancellation = () => {
        polls += 1
        false
      }
      val r = c.descent.copy(schedule = schedule, running = running, budget = 30000L)
      same(c, s => c.descend(s, r, cancellation = if (s eq solver) counting else Cancellation.NEVER), s"$c, $r")
      assert(polls > 2)
      native.free(c.fit)
    }
  }

  test("what was checked is remembered by partition, and forgotten with the fit") {
    val fit = nextFit()
    val c = new SgdCase(33, losses.head)
    val before = native.stateEntries
    c.descend(solver, c.descent.copy(fit = fit))
    assert(native.stateEntries == before + 1)
    c.evaluate(solver, c.evaluation.copy(fit = fit))
    c.search(solver, c.search.copy(fit = fit))
    assert(native.stateEntries == before + 1)
    assert(native.free(fit) > 0L && native.stateEntries == before)
    // A late task of the fit still gets its result.
    same(c, c.descend(_, c.descent.copy(fit = fit)), "late")
    assert(native.stateEntries == before)
  }
}
