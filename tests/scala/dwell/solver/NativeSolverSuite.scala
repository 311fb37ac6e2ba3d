package dwell.solver

import dwell.data.TestData
import dwell.data.TestData.Values

/** The native solver. A library that does not load fails these tests: they are not skipped. */
class NativeSolverSuite extends LocalSolverTests {
  import LocalSolverTests.{comparable, nextFit}

  override protected lazy val solver: LocalSolver = SolverSelection("native", fallbackIsError = true).solver()

  private val jvm: LocalSolver = new JvmSolver(new WorkerStates())

  for {
    (values, seed) <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles).zipWithIndex
    weighted <- Seq(false, true)
    centred <- Seq(false, true)
  } test(s"native and JVM results are the same bytes: $values, weighted=$weighted, centred=$centred") {
    for ((l1, l2, scaleFactor) <- Seq((0.0, 0.1, 1.0), (0.05, 0.0, 0.0), (0.01, 0.02, 1.01), (0.0, 0.0, 0.0))) {
      val rows = TestData.random(seed + 20, 150, 700, 0.05, values, weighted)
      val p = new LocalProblem(rows, 3, l1, l2, centred, scaleFactor)
      val fit = nextFit()
      val rounds = 40
      val native = p.run(solver, fit, rounds, budget = 0.3, certificate = true)
      val reference = p.run(jvm, fit, rounds, budget = 0.3, certificate = true)
      native.zip(reference).zipWithIndex.foreach { case ((a, b), t) =>
        a.zip(b).foreach { case (x, y) => assert(comparable(x) == comparable(y), s"round $t") }
      }
      p.partitions.indices.foreach { k =>
        val states = Seq(solver, jvm).map(_.exportState(fit, k).get)
        assert(LocalSolverTests.content(states.head) == LocalSolverTests.content(states.last))
        val products = Seq(solver, jvm).map(p.product(_, k, p.request(fit, rounds)).get)
        assert(comparable(products.head) == comparable(products.last))
      }
      Seq(solver, jvm).foreach(_.free(fit))
    }
  }

  test("coefficients agree to 1e-10 after many rounds, where chunks of columns and all threads count") {
    val rows = TestData.random(99, 300, 9000, 0.01, weighted = true)
    val p = new LocalProblem(rows, 2, 0.002, 0.01)
    val fit = nextFit()
    val threaded = p.request(fit, 0, certificate = true).copy(threads = 2)
    val first = Seq(solver, jvm).map { s =>
      val result = p.round(s, 0, threaded, p.labels).get
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
    val p = new LocalProblem(TestData.random(7, 80, 50, 0.2), 1, 0.01, 0.1)
    val fit = nextFit()
    val expected = p.run(jvm, fit, 6).map(_.head).map(comparable)
    jvm.free(fit)
    var residual = p.labels
    var state = WorkerState.zero(p.partitions(0).numColumns)
    val mixed = (0 until 6).map { t =>
      val s = if (t % 2 == 0) solver else jvm
      val key = nextFit()
      s.importState(key, 0, state)
      val result = p.round(s, 0, p.request(key, t), residual).get
      state = s.exportState(key, 0).get.commit(1.0, 0.0)
      s.free(key)
      residual = p.residualAfter(residual, Seq(result))
      comparable(result)
    }
    assert(mixed == expected)
  }
}
