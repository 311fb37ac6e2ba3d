package dwell.solver.cd

import dwell.jni.{CdLayout, ResultHeader}
import dwell.data.TestData
import dwell.data.TestData.Values
import dwell.fit.SolverSelection
import dwell.solver.cd.contract.{CdSolver, WorkerState}
import dwell.solver.cd.jvm.{JvmCd, WorkerStates}
import dwell.solver.cd.worker.CdSolvers
import dwell.solver.problem.Logistic

/** The native solver of coordinate descent. If the library does not load, these tests fail; they are not skipped. */
class NativeCdSuite extends CdSolverTests with DualSolverTests {
  import CdSolverTests.{comparable, nextFit, points}

  override protected lazy val solver: CdSolver = CdSolvers.of(SolverSelection("native", fallbackIsError = true))

  private val jvm: CdSolver = new JvmCd(new WorkerStates())

  for {
    (values, seed) <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles).zipWithIndex
    weighted <- Seq(false, true)
    centred <- Seq(false, true)
    dense <- Seq(false, true)
  } test(s"native and JVM results are the same bytes: $values, weighted=$weighted, centred=$centred, dense=$dense") {
    for ((l1, l2, scaleFactor) <- Seq((0.0, 0.1, 1.0), (0.05, 0.0, 0.0), (0.01, 0.02, 1.01), (0.0, 0.0, 0.0))) {
      val rows = TestData.random(seed + 20, 150, 700, 0.05, values, weighted)
      val p = new ColumnProblem(rows, 3, l1, l2, centred, scaleFactor, dense)
      val fit = nextFit()
      val rounds = if (dense) 10 else 40
      val native = p.run(solver, fit, rounds, budget = 0.3, certificate = true, points)
      val reference = p.run(jvm, fit, rounds, budget = 0.3, certificate = true, points)
      native.zip(reference).zipWithIndex.foreach { case ((a, b), t) =>
        a.zip(b).foreach { case (x, y) => assert(comparable(x) == comparable(y), s"round $t") }
      }
      p.partitions.indices.foreach { k =>
        val states = Seq(solver, jvm).map(_.exportState(fit, k).get)
        assert(CdSolverTests.content(states.head) == CdSolverTests.content(states.last))
        val products = Seq(solver, jvm).map(p.product(_, k, p.request(fit, rounds)).get)
        assert(comparable(products.head) == comparable(products.last))
      }
      Seq(solver, jvm).foreach(_.free(fit))
    }
  }

  for {
    loss <- DualSolverTests.losses
    (values, seed) <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles).zipWithIndex
    dense <- Seq(false, true)
  } test(s"native and JVM results are the same on rows: $loss, $values, dense=$dense") {
    for (weighted <- Seq(false, true); (scaleFactor, nu) <- Seq((0.0, 0.0), (0.0, 0.5), (1.01, 0.0), (1.01, 0.5))) {
      val rows = TestData.random(seed + 40, 700, 60, 0.05, values, weighted)
      val p = new RowProblem(rows, 3, loss, 0.02, scaleFactor = scaleFactor, nu = nu, dense = dense)
      compareOnRows(p, rounds = 12, threads = 1)
    }
  }

  test("native and JVM results are the same bytes: batches of columns") {
    for {
      (l1, l2, scaleFactor) <- Seq((0.05, 0.0, 0.0), (0.01, 0.02, 1.01))
      centred <- Seq(false, true)
      dense <- Seq(false, true)
    } {
      val rows = TestData.random(61, 150, 700, 0.05, Values.Doubles, weighted = true)
      val p = new ColumnProblem(rows, 3, l1, l2, centred, scaleFactor, dense)
      val fit = nextFit()
      for (budget <- Seq(0.3, 1.0, 5.0); k <- p.data.indices) {
        val r =
          p.request(fit, 0, budget = budget, certificate = true, points = points).copy(batch = true, sigmaPrime = 20.0)
        val Seq(native, reference) = Seq(solver, jvm).map(p.round(_, k, r, p.start).get)
        assert(comparable(native) == comparable(reference), s"budget $budget")
        assert(ResultHeader.get(native, CdLayout.COORDINATES) <= p.data(k).coordinates)
      }
      Seq(solver, jvm).foreach(_.free(fit))
    }
  }

  for (loss <- DualSolverTests.losses; gradient <- Seq(false, true)) {
    test(s"$loss: the same on rows in batches, gradient = $gradient") {
      val rows = TestData.random(62, 700, 60, 0.05, weighted = true)
      val p = new RowProblem(rows, 3, loss, 0.02, scaleFactor = 1.01, nu = 0.5)
      val fit = nextFit()
      val shared = p.start.indices.map(j => math.sin(j.toDouble)).toArray
      for (budget <- Seq(0.4, 3.0); k <- p.data.indices) {
        val problem = p.problemAt(0.2).copy(gradient = gradient)
        val r = p
          .request(fit, 0, budget = budget, certificate = true, points = points)
          .copy(batch = true, subproblem = problem)
        val Seq(native, reference) = Seq(solver, jvm).map(p.round(_, k, r, shared).get)
        same(p, native, reference, s"budget $budget")
      }
      Seq(solver, jvm).foreach(_.free(fit))
    }
  }

  for (loss <- DualSolverTests.losses) test(s"$loss: the same on rows with several threads, where chunks count") {
    val rows = TestData.random(77, 9000, 40, 0.05, weighted = true)
    for ((threads, dense) <- Seq((2, false), (5, false), (2, true))) {
      val p = new RowProblem(rows, 2, loss, 0.01, scaleFactor = 1.0, nu = 0.5, dense = dense)
      compareOnRows(p, rounds = 3, threads)
    }
  }

  /** Rounds from the same states on both solvers. */
  private def compareOnRows(p: RowProblem, rounds: Int, threads: Int): Unit = {
    val fit = nextFit()
    var shared = p.start
    for (t <- 0 until rounds) {
      val offset = if (p.nu == 0.0) 0.0 else 0.1 * t
      val problem = p.problemAt(offset).copy(candidates = Array(offset, 0.25, -3.0))
      // Takes half of the step, which leaves room at the bounds.
      val r = p
        .request(fit, t, budget = 0.6, certificate = t % 2 == 0, theta1 = 0.5, points = points)
        .copy(threads = threads, subproblem = problem)
      val results = p.data.indices.map { k =>
        val committed = jvm.exportState(fit, k).map(_.commit(0.5, 0.0))
        committed.foreach(solver.importState(fit, k, _))
        val Seq(native, reference) = Seq(solver, jvm).map(p.round(_, k, r, shared).get)
        same(p, native, reference, s"round $t")
        val Seq(a, b) = Seq(solver, jvm).map(_.exportState(fit, k).get)
        if (p.loss == Logistic) close(a.pending.get.delta, b.pending.get.delta, s"round $t")
        else assert(CdSolverTests.content(a) == CdSolverTests.content(b), s"round $t")
        reference
      }
      shared = shared.zip(p.sum(results)).map { case (w, u) => w + 0.5 * u }
    }
    p.data.indices.foreach { k =>
      solver.importState(fit, k, jvm.exportState(fit, k).get.commit(0.5, 0.0))
      val Seq(native, reference) = Seq(solver, jvm).map(p.product(_, k, p.request(fit, rounds, theta1 = 0.5)).get)
      same(p, native, reference, "product")
    }
    Seq(solver, jvm).foreach(_.free(fit))
  }

  /** Compares to the last bit, except for the exponentials and logarithms of the logistic loss. */
  private def same(p: RowProblem, native: Array[Byte], reference: Array[Byte], about: String): Unit =
    if (p.loss != Logistic) {
      (0 until ResultHeader.FIRST_FREE).filter(_ != ResultHeader.SOLVER_NANOS).foreach { slot =>
        val Seq(a, b) = Seq(native, reference).map(ResultHeader.get(_, slot))
        assert(a == b || a.isNaN && b.isNaN, s"$about, slot $slot")
      }
      assert(comparable(native) == comparable(reference), about)
    } else {
      close(p.vector(native), p.vector(reference), about)
      (0 until ResultHeader.FIRST_FREE).filter(_ != ResultHeader.SOLVER_NANOS).foreach { slot =>
        val Seq(a, b) = Seq(native, reference).map(ResultHeader.get(_, slot))
        assert(
          a == b || a.isNaN && b.isNaN || math.abs(a - b) <= LogisticTolerance * (1.0 + math.abs(b)),
          s"$about, slot $slot: $a, $b")
      }
    }

  private def close(a: Array[Double], b: Array[Double], about: String): Unit = {
    val size = b.map(math.abs).maxOption.getOrElse(0.0)
    assert(a.zip(b).forall { case (u, v) => math.abs(u - v) <= LogisticTolerance * size }, about)
  }

  /** StrictMath and the C library differ in the last bit. */
  private val LogisticTolerance = 1e-12

  test("coefficients agree to 1e-10 after many rounds, where chunks of columns and all threads count") {
    val rows = TestData.random(99, 300, 9000, 0.01, weighted = true)
    val p = new ColumnProblem(rows, 2, 0.002, 0.01)
    val fit = nextFit()
    val threaded = p.request(fit, 0, certificate = true).copy(threads = 2)
    val first = Seq(solver, jvm).map { s =>
      val result = p.round(s, 0, threaded, p.start).get
      s.free(fit)
      comparable(result)
    }
    assert(first.head == first.last)
    val long = nextFit()
    Seq(solver, jvm).foreach(p.run(_, long, 100))
    val (a, b) = (p.coefficients(solver, long), p.coefficients(jvm, long))
    a.foreach { case (column, value) =>
      assert(math.abs(value - b(column)) <= 1e-10 * math.abs(b(column)), s"column $column")
    }
    Seq(solver, jvm).foreach(_.free(long))
  }

  test("a fit may move from one solver to the other") {
    val p = new ColumnProblem(TestData.random(7, 80, 50, 0.2), 1, 0.01, 0.1)
    val fit = nextFit()
    val expected = p.run(jvm, fit, 6).map(_.head).map(comparable)
    jvm.free(fit)
    var residual = p.start
    var state = WorkerState.zero(p.partitions(0).numColumns)
    val mixed = (0 until 6).map { t =>
      val s = if (t % 2 == 0) solver else jvm
      val key = nextFit()
      s.importState(key, 0, state)
      val result = p.round(s, 0, p.request(key, t), residual).get
      state = s.exportState(key, 0).get.commit(1.0, 0.0)
      s.free(key)
      residual = p.after(residual, Seq(result))
      comparable(result)
    }
    assert(mixed == expected)
  }
}
