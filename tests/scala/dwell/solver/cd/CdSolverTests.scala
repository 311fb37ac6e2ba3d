package dwell.solver.cd

import java.util.concurrent.{Callable, CancellationException, Executors, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.linalg.Vectors

import dwell.LimitedSuite
import dwell.base.BucketOrder
import dwell.data.{ColumnData, LocalData, RowData, TestData}
import dwell.data.block.LabeledRow
import dwell.data.columns.ColumnPartition
import dwell.data.rows.RowPartition
import dwell.jni.{Cancellation, CdLayout, ResultHeader}
import dwell.solver.Questions
import dwell.solver.cd.contract.{CdSolver, DualSubproblem, PrimalSubproblem, RoundRequest, Subproblem, WorkerState}
import dwell.solver.problem.{Hinge, Squared}

/** Tests of every local solver for coordinate descent: protocol and errors in both orientations, and least squares.
 * */
private[solver] trait CdSolverTests extends LimitedSuite {
  import CdSolverTests.{checkAlong, comparable, nextFit, points}

  protected def solver: CdSolver

  private def problem(
      seed: Int = 1,
      numPartitions: Int = 3,
      l1: Double = 0.01,
      l2: Double = 0.1,
      weighted: Boolean = false,
      centred: Boolean = true,
      scaleFactor: Double = 1.0): ColumnProblem =
    new ColumnProblem(
      TestData.random(seed, 60, 40, 0.2, weighted = weighted),
      numPartitions,
      l1,
      l2,
      centred,
      scaleFactor)

  /** A test for each orientation: the function makes the problem for a number of partitions. */
  private def both(name: String)(body: (Int => LocalProblem) => Unit): Unit = {
    test(s"$name: columns")(body(problem(2, _, weighted = true)))
    test(s"$name: rows") {
      body(
        new RowProblem(TestData.random(3, 60, 40, 0.2, weighted = true), _, Hinge, 0.05, scaleFactor = 1.0, nu = 0.1))
    }
  }

  private def slot(results: Seq[Array[Byte]], index: Int): Double = results.map(ResultHeader.get(_, index)).sum

  // ---- mathematics ----

  for {
    weighted <- Seq(false, true)
    centred <- Seq(false, true)
    scaleFactor <- Seq(0.0, 1.0, 1.05)
  } test(s"the objective falls, the gap bounds it: weighted=$weighted, centred=$centred, scaleFactor=$scaleFactor") {
    val p = problem(weighted = weighted, centred = centred, scaleFactor = scaleFactor)
    val fit = nextFit()
    val rounds = 300
    var residual = p.start
    val history = (0 until rounds).map { t =>
      val results = p.partitions.indices.map(p.round(solver, _, p.request(fit, t, certificate = true), residual).get)
      val penalty = slot(results, CdLayout.VALUE_BEFORE)
      val fitted = p.start.zip(residual).map { case (y, r) => y - r }
      val product = residual.indices.map(j => p.rowWeights(j) * residual(j) * fitted(j)).sum / p.totalWeight
      val objective = p.loss(residual) + penalty
      val gap = penalty + slot(results, CdLayout.CONJUGATE) - product
      residual = p.after(residual, results)
      val after = p.loss(residual) + slot(results, CdLayout.VALUE_AFTER)
      (objective, gap, after)
    }
    val best = history.last._3
    history.foreach { case (objective, gap, after) =>
      assert(after <= objective * (1.0 + 1e-12))
      assert(gap >= objective - best - 1e-12 * objective)
    }
    assert(history.last._2 <= 1e-8 * history.head._1, "the gap closes")
    // The leader's residual has not drifted from the coefficients.
    val products = p.partitions.indices.map(p.product(solver, _, p.request(fit, rounds)).get)
    val rebuilt = p.after(p.start, products)
    assert(rebuilt.zip(residual).forall { case (a, b) => math.abs(a - b) < 1e-12 })
    if (centred) assert(math.abs(rebuilt.zip(p.rowWeights).map { case (r, s) => r * s }.sum) < 1e-10 * p.totalWeight)
    solver.free(fit)
  }

  test("one partition is plain coordinate descent") {
    for (weighted <- Seq(false, true); centred <- Seq(false, true)) {
      val p = problem(seed = 8, numPartitions = 1, weighted = weighted, centred = centred)
      val fit = nextFit()
      p.run(solver, fit, rounds = 5, budget = 0.7)
      val part = p.partitions.head
      val order = new BucketOrder(part.numColumns, 42L, 0)
      val budget = math.ceil(part.numColumns * 0.7).toInt
      val columns = part.columns.indices.map { i =>
        val dense = new Array[Double](part.rows)
        (part.offsets(i) until part.offsets(i + 1)).foreach(at => dense(part.indices(at)) = part.value(at))
        if (centred) dense.map(_ - part.mean(i)) else dense
      }
      val alpha = new Array[Double](part.numColumns)
      val residual = p.start.clone()
      var cursor = 0L
      for (_ <- 0 until 5) {
        var visited = 0
        while (visited < budget) {
          val start = order.start(cursor)
          for (i <- start until order.end(start)) {
            val c = columns(i)
            val q = c.indices.map(j => p.rowWeights(j) * c(j) * c(j)).sum / p.totalWeight
            val x = c.indices.map(j => p.rowWeights(j) * c(j) * residual(j)).sum / p.totalWeight
            val t = q * alpha(i) + x
            val threshold = 0.01 * part.deviation(i)
            val next = math.signum(t) * math.max(math.abs(t) - threshold, 0.0) / (q + 0.1 * part.variance(i))
            c.indices.foreach(j => residual(j) -= (next - alpha(i)) * c(j))
            alpha(i) = next
            visited += 1
          }
          cursor += 1
        }
      }
      val found = p.coefficients(solver, fit)
      part.columns.zip(alpha).foreach { case (column, a) => assert(math.abs(found(column) - a) < 1e-11) }
      solver.free(fit)
    }
  }

  test("any number of threads: the objective falls, with few to the same optimum") {
    val p = problem(seed = 6, numPartitions = 2, weighted = true)
    val optima = for (threads <- Seq(1, 3, 200)) yield {
      val fit = nextFit()
      var residual = p.start
      var objective = p.loss(residual)
      for (t <- 0 until 400) {
        // Half an epoch, and an epoch and a half, so that averages fall before and at the end of epochs.
        val request = p.request(fit, t, budget = if (t % 2 == 0) 0.5 else 1.5).copy(threads = threads)
        val results = p.data.indices.map(p.round(solver, _, request, residual).get)
        results.foreach { result =>
          assert(ResultHeader.get(result, CdLayout.COORDINATES) >= request.coordinates(p.data.map(_.coordinates).min))
        }
        residual = p.after(residual, results)
        val next = p.loss(residual) + slot(results, CdLayout.VALUE_AFTER)
        assert(next <= objective * (1.0 + 1e-12), s"threads=$threads, round $t")
        objective = next
      }
      solver.free(fit)
      objective
    }
    // With a copy for each bucket, descent is as slow as Jacobi's: the test only asks that it falls.
    assert(math.abs(optima(1) - optima(0)) <= 1e-8 * optima(0))
  }

  test("ridge with an intercept solves the normal equations") {
    // y = 1 + 2 a - b exactly; the penalty is tiny.
    val rows = Seq((0.0, 1.0), (1.0, 3.0), (2.0, 0.0), (4.0, 1.0), (5.0, 5.0)).map { case (a, b) =>
      LabeledRow(1 + 2 * a - b, 1.0 + a, Vectors.dense(a, b))
    }
    val p = new ColumnProblem(rows, 2, l1 = 0.0, l2 = 1e-12)
    val fit = nextFit()
    p.run(solver, fit, rounds = 400)
    val found = p.coefficients(solver, fit)
    assert(math.abs(found(0) - 2.0) < 1e-9 && math.abs(found(1) + 1.0) < 1e-9)
    solver.free(fit)
  }

  test("a lasso penalty above the largest correlation keeps every coefficient at zero") {
    val p = problem(l1 = 1e3, l2 = 0.0)
    val fit = nextFit()
    val results = p.run(solver, fit, 1, certificate = true).head
    assert(results.forall(p.vector(_).forall(_ == 0.0)) && p.coefficients(solver, fit).values.forall(_ == 0.0))
    assert(slot(results, CdLayout.CONJUGATE) == 0.0)
    assert(results.map(ResultHeader.get(_, CdLayout.RATIO)).max < 1.0)
    solver.free(fit)
  }

  test("the header says what was done") {
    val p = problem()
    val fit = nextFit()
    val result = p.round(solver, 0, p.request(fit, 0, budget = 0.5)).get
    val columns = p.data(0).coordinates
    assert(ResultHeader.get(result, CdLayout.COORDINATES) == math.ceil(columns * 0.5))
    assert(ResultHeader.get(result, ResultHeader.NONZEROS) > 0.0)
    assert(ResultHeader.get(result, ResultHeader.SOLVER_NANOS) > 0.0)
    assert(ResultHeader.get(result, ResultHeader.STATE_BYTES) == 24.0 * columns)
    assert(ResultHeader.get(result, CdLayout.STAMP) == 0.0)
    Seq(CdLayout.CONJUGATE, CdLayout.RATIO, CdLayout.CORRELATION).foreach { index =>
      assert(ResultHeader.get(result, index).isNaN, "no certificate was asked for")
    }
    (CdLayout.SAMPLES until ResultHeader.FIRST_FREE).foreach { index =>
      assert(ResultHeader.get(result, index) == 0.0, "no point was asked for")
    }
    // The slots after those of the solver belong to the caller.
    val marked = p.newResult
    (0 until ResultHeader.SLOTS).foreach(ResultHeader.put(marked, _, 5.0))
    assert(solver.round(p.data(1), p.request(fit, 0), p.pack(p.start), marked, Cancellation.NEVER))
    (0 until ResultHeader.SLOTS).foreach { index =>
      assert((ResultHeader.get(marked, index) == 5.0) == (index >= ResultHeader.FIRST_FREE), s"slot $index")
    }
    solver.free(fit)
  }

  test("a partition without columns and a dataset of one row") {
    val one = new ColumnProblem(Seq(LabeledRow(3.0, 2.0, Vectors.dense(1.0, 2.0))), 2, 0.1, 0.1)
    val fit = nextFit()
    val results = one.run(solver, fit, 3, certificate = true).flatten
    assert(results.forall(one.vector(_).forall(_ == 0.0)))
    assert(results.forall(ResultHeader.get(_, CdLayout.COORDINATES) == 0.0))
    assert(one.partitions.indices.flatMap(one.product(solver, _, one.request(fit, 3))).size == 2)
    solver.free(fit)
  }

  both("slopes, curves and samples are the change of the separable part") { make =>
    val p = make(2)
    val fit = nextFit()
    var shared = p.start
    for (t <- 0 until 4) {
      val request = p.request(fit, t, theta1 = 0.75, points = points)
      val results = p.data.indices.map(p.round(solver, _, request, shared).get)
      results.zipWithIndex.foreach { case (result, k) =>
        checkAlong(p, k, result, solver.exportState(fit, k).get, feasible = Set(0, 1, 2))
      }
      // The verdict of the next round takes three quarters of the step.
      results.foreach { result =>
        val vector = ResultHeader.vector(result)
        (0 until vector.limit()).foreach(j => vector.put(j, 0.75 * vector.get(j)))
      }
      shared = p.after(shared, results)
    }
    solver.free(fit)
  }

  // ---- protocol ----

  both("a repeated round gives the same bytes and is applied once") { make =>
    val p = make(3)
    val (once, twice) = (nextFit(), nextFit())
    val plain = p.run(solver, once, 6, budget = 0.6).flatten.map(comparable)
    var shared = p.start
    val repeated = (0 until 6).flatMap { t =>
      val results = p.data.indices.map { k =>
        val attempts = Seq.fill(3)(p.round(solver, k, p.request(twice, t, budget = 0.6), shared).get)
        assert(attempts.map(comparable).distinct.size == 1)
        attempts.last
      }
      shared = p.after(shared, results)
      results.map(comparable)
    }
    assert(repeated == plain)
    Seq(once, twice).foreach(solver.free)
  }

  both("attempts that run at the same time give the same bytes") { make =>
    val p = make(1)
    val fit = nextFit()
    val pool = Executors.newFixedThreadPool(4)
    try {
      var shared = p.start
      for (t <- 0 until 20) {
        val attempt: Callable[Seq[Byte]] = () => p.round(solver, 0, p.request(fit, t), shared).get.toSeq
        val results = pool.invokeAll(Seq.fill(4)(attempt).asJava).asScala.map(_.get.toArray)
        assert(results.map(comparable).distinct.size == 1)
        shared = p.after(shared, results.take(1).toSeq)
      }
    } finally {
      pool.shutdown()
      pool.awaitTermination(10, TimeUnit.SECONDS)
    }
    solver.free(fit)
  }

  both("the verdict keeps, halves or undoes a step") { make =>
    val p = make(1)
    val fit = nextFit()
    p.round(solver, 0, p.request(fit, 0), p.start)
    val first = solver.exportState(fit, 0).get
    assert(first.version == 0 && first.alpha.forall(_ == 0.0) && first.pending.exists(_.round == 0))
    val d0 = first.pending.get.delta

    p.round(solver, 0, p.request(fit, 1, theta1 = 0.5), p.start)
    val half = solver.exportState(fit, 0).get
    assert(half.version == 1 && half.cursor == first.pending.get.cursor)
    assert(half.alpha.sameElements(d0.map(_ * 0.5)) && half.previous.sameElements(half.alpha))
    val d1 = half.pending.get.delta

    p.round(solver, 0, p.request(fit, 2, theta1 = 0.25, theta2 = 2.0), p.start)
    val both = solver.exportState(fit, 0).get
    val added = d1.zip(half.previous).map { case (d, previous) => 0.25 * d + 2.0 * previous }
    assert(both.previous.sameElements(added))
    assert(both.alpha.sameElements(half.alpha.zip(added).map { case (a, b) => a + b }))

    p.round(solver, 0, p.request(fit, 3, theta1 = 0.0), p.start)
    assert(solver.exportState(fit, 0).get.alpha.sameElements(both.alpha), "a rejected step leaves nothing")
    solver.free(fit)
  }

  both("a state that is missing, older, newer or of another stamp is lost") { make =>
    val p = make(1)
    val fit = nextFit()
    def lost(round: Long, stamp: Long): Boolean = {
      val before = solver.exportState(fit, 0).map(CdSolverTests.content)
      val isLost = p.round(solver, 0, p.request(fit, round, stamps = Array(stamp)), p.start).isEmpty
      assert(!isLost || solver.exportState(fit, 0).map(CdSolverTests.content) == before, "a loss changes nothing")
      isLost
    }
    assert(lost(1, 0) && lost(0, 5) && lost(3, 3))
    assert(!lost(0, 0))
    assert(lost(2, 0), "a round was missed")
    assert(lost(1, 1), "another stamp")
    assert(!lost(1, 0) && !lost(2, 0))
    assert(lost(1, 0), "the state is ahead")
    assert(!lost(2, 0) && !lost(3, 0))
    solver.free(fit)
  }

  both("a product settles the pending step and keeps the state under a new stamp") { make =>
    val p = make(1)
    val fit = nextFit()
    val results = p.run(solver, fit, 2).map(_.head)
    val sum = p.sum(results)
    val before = solver.exportState(fit, 0).get
    for (_ <- 0 until 2) {
      val product = p.product(solver, 0, p.request(fit, 2)).get
      assert(p.vector(product).zip(sum).forall { case (v, expected) => math.abs(v - expected) < 1e-12 })
      assert(ResultHeader.get(product, CdLayout.STAMP) == 6.0)
      val state = solver.exportState(fit, 0).get
      assert(state.version == 3 && state.stamp == 6 && state.pending.isEmpty)
      assert(state.alpha.sameElements(before.commit(1.0, 0.0).alpha))
    }
    assert(p.round(solver, 0, p.request(fit, 3), p.start).isEmpty, "the old stamp is lost")
    assert(p.round(solver, 0, p.request(fit, 3, stamps = Array(6L)), p.start).nonEmpty, "training goes on from there")
    solver.free(fit)
  }

  both("a late product leaves the rounds after it alone") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val product = p.product(solver, 0, p.request(fit, 2)).get
    def late(): Option[Array[Byte]] = {
      val before = CdSolverTests.content(solver.exportState(fit, 0).get)
      val answer = p.product(solver, 0, p.request(fit, 2))
      assert(CdSolverTests.content(solver.exportState(fit, 0).get) == before)
      answer
    }
    val same = late()
    p.round(solver, 0, p.request(fit, 3, stamps = Array(6L)), p.start).get
    val withStep = late()
    p.round(solver, 0, p.request(fit, 4, stamps = Array(6L)), p.start).get
    assert(Seq(same, withStep).flatten.map(p.vector(_).toSeq) == Seq.fill(2)(p.vector(product).toSeq))
    assert(Seq(same, withStep).flatten.forall(ResultHeader.get(_, CdLayout.STAMP) == 6.0))
    assert(late().isEmpty, "the state is of a later round")
    solver.free(fit)
  }

  both("a step that a product dropped does not come back") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    assert(ResultHeader.get(p.product(solver, 0, p.request(fit, 1)).get, CdLayout.STAMP) == 4.0)
    Thread.sleep(5)
    assert(solver.expire(0) > 0L)
    // The messages from before the product arrive again.
    p.run(solver, fit, 2)
    assert(p.round(solver, 0, p.request(fit, 2, stamps = Array(4L)), p.start).isEmpty)
    solver.free(fit)
  }

  both("of two products that differ the first stays") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val result = p.newResult
    val calls = new AtomicInteger()
    val loseAndRepeat: Cancellation = () => {
      if (calls.getAndIncrement() == 0) {
        Thread.sleep(5)
        solver.expire(0)
        p.product(solver, 0, p.request(fit, 2)).get
        p.round(solver, 0, p.request(fit, 3, stamps = Array(7L)), p.start).get
      }
      false
    }
    assert(solver.product(p.data(0), p.request(fit, 2), result, loseAndRepeat))
    assert(ResultHeader.get(result, CdLayout.STAMP) == 6.0)
    val state = solver.exportState(fit, 0).get
    assert(state.version == 3 && state.stamp == 7 && state.pending.exists(_.round == 3))
    solver.free(fit)
  }

  test("odd stamps are of products that started again") {
    import WorkerState.Stamp
    assert(!Stamp.isRestart(0L))
    for (version <- 1L to 5L; restarted <- Seq(false, true)) {
      assert(Stamp.isRestart(Stamp.ofRebuild(version, restarted)) == restarted)
    }
  }

  both("a product drops the step of its own round") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 3)
    val before = solver.exportState(fit, 0).get
    assert(before.version == 2 && before.pending.exists(_.round == 2))
    p.product(solver, 0, p.request(fit, 2)).get
    val after = solver.exportState(fit, 0).get
    assert(after.version == 3 && after.pending.isEmpty && after.alpha.sameElements(before.alpha))
    solver.free(fit)
  }

  both("a product without a matching state starts again from zero, under a new stamp") { make =>
    val p = make(1)
    for (present <- Seq(false, true)) {
      val fit = nextFit()
      if (present) p.run(solver, fit, 2)
      val product = p.product(solver, 0, p.request(fit, 7)).get
      assert(ResultHeader.get(product, CdLayout.STAMP) == 17.0 && p.vector(product).forall(_ == 0.0))
      assert(p.round(solver, 0, p.request(fit, 8), p.start).isEmpty, "the old stamp is lost")
      assert(p.round(solver, 0, p.request(fit, 8, stamps = Array(17L)), p.start).nonEmpty)
      solver.free(fit)
    }
  }

  /** Runs `action` in the middle of a round. */
  private def during(p: LocalProblem, r: RoundRequest)(action: => Unit): Option[Array[Byte]] = {
    val calls = new AtomicInteger()
    p.round(solver, 0, r, p.start, () => { if (calls.getAndIncrement() == 0) action; false })
  }

  both("a step that comes too late is refused") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val late = during(p, p.request(fit, 2)) {
      p.product(solver, 0, p.request(fit, 2)).get
    }
    assert(late.isEmpty)
    val state = solver.exportState(fit, 0).get
    assert(state.version == 3 && state.pending.isEmpty)
    val gone = during(p, p.request(fit, 3, stamps = Array(6L))) {
      solver.free(fit)
    }
    assert(gone.isEmpty && solver.exportState(fit, 0).isEmpty)
  }

  both("a freed fit cannot be brought back") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 1)
    val state = solver.exportState(fit, 0).get
    val entries = solver.stateEntries
    assert(solver.free(fit) == 24L * p.data(0).coordinates && solver.free(fit) == 0L)
    assert(solver.stateEntries == entries - 1)
    assert(p.round(solver, 0, p.request(fit, 0), p.start).isEmpty)
    assert(p.product(solver, 0, p.request(fit, 0)).isEmpty)
    solver.importState(fit, 0, state)
    assert(solver.exportState(fit, 0).isEmpty && solver.stateEntries == entries - 1)
  }

  both("bytes are counted, idle states expire") { make =>
    val p = make(3)
    val fit = nextFit()
    Thread.sleep(5)
    solver.expire(0)
    assert(solver.stateBytes == 0L && solver.stateEntries == 0L)
    p.run(solver, fit, 2)
    val coordinates = p.coordinates
    assert(solver.stateBytes == 24L * coordinates && solver.stateEntries == 3L)
    assert(solver.expire(60000) == 0L)
    intercept[IllegalArgumentException](solver.expire(-1))
    Thread.sleep(600)
    p.round(solver, 1, p.request(fit, 1), p.start)
    val young = 24L * p.data(1).coordinates
    assert(solver.expire(500) == 24L * coordinates - young)
    assert(solver.stateBytes == young && solver.exportState(fit, 1).nonEmpty)
    assert(p.round(solver, 0, p.request(fit, 2), p.start).isEmpty)
    solver.free(fit)
    assert(solver.stateBytes == 0L && solver.stateEntries == 0L)
  }

  both("state that travels gives the same bytes as state that stays") { make =>
    val p = make(3)
    val stays = nextFit()
    val expected = p.run(solver, stays, 8, budget = 0.4).flatten.map(comparable)
    var shared = p.start
    var states = p.data.map(part => WorkerState.zero(part.coordinates))
    val travelling = (0 until 8).flatMap { t =>
      val fit = nextFit()
      val results = p.data.indices.map { k =>
        solver.importState(fit, k, states(k))
        p.round(solver, k, p.request(fit, t, budget = 0.4), shared).get
      }
      states = p.data.map(part => solver.exportState(fit, part.index).get.commit(1.0, 0.0))
      solver.free(fit)
      shared = p.after(shared, results)
      results.map(comparable)
    }
    assert(travelling == expected)
    solver.free(stays)
  }

  both("states of two fits and two partitions do not meet") { make =>
    val p = make(2)
    val (a, b) = (nextFit(), nextFit())
    val alone = p.run(solver, a, 3).flatten.map(comparable)
    p.run(solver, b, 1)
    solver.free(a)
    var shared = p.start
    val resumed = (0 until 3).flatMap { t =>
      val results = p.data.indices.map(p.round(solver, _, p.request(b, t), shared).get)
      shared = p.after(shared, results)
      results.map(comparable)
    }
    assert(resumed == alone)
    solver.free(b)
  }

  // ---- cancellation and bad input ----

  both("a cancelled round or product leaves the state as it was") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val before = CdSolverTests.content(solver.exportState(fit, 0).get)
    intercept[CancellationException](p.round(solver, 0, p.request(fit, 2), p.start, () => true))
    val result = p.newResult
    intercept[CancellationException](solver.product(p.data(0), p.request(fit, 2), result, () => true))
    val mine = intercept[IllegalStateException] {
      p.round(solver, 0, p.request(fit, 2), p.start, () => throw new IllegalStateException("from the callback"))
    }
    assert(mine.getMessage == "from the callback")
    assert(CdSolverTests.content(solver.exportState(fit, 0).get) == before)
    solver.free(fit)
  }

  test("a long round asks all the time whether it is cancelled, and ends in its middle without a state") {
    val (vectors, length) = (500, 20000)
    val random = new scala.util.Random(3)
    val offsets = Array.tabulate(vectors + 1)(_ * length)
    val indices = Array.tabulate(vectors * length)(_ % length)
    def all(value: Double): Array[Double] = Array.fill(vectors)(value)
    val ids = Array.range(0, vectors)
    val columns =
      new ColumnPartition(
        0,
        length,
        ids,
        offsets,
        indices,
        null,
        null,
        all(0.5),
        all(0.25),
        all(0.5),
        weights = null,
        labels = new Array[Double](length))
    val labels = Array.fill(vectors)(random.nextGaussian())
    val rows =
      new RowPartition(
        0,
        length,
        ids.map(_.toLong),
        offsets,
        indices,
        null,
        null,
        labels,
        null,
        all(length.toDouble),
        null)
    val some = TestData.random(1, 10, 4, 0.5)
    for {
      (p, data) <- Seq(
        new ColumnProblem(some, 1, 0.0, 0.1) -> ColumnData(columns, null),
        new RowProblem(some, 1, Squared, 0.1) -> RowData(rows, null))
    } {
      val shared = p.pack(Array.fill(length)(random.nextGaussian()))
      val entries = solver.stateEntries
      Questions.endInTheMiddle(indices.length.toLong) { (passes, cancellation) =>
        val request = p.request(nextFit(), 0, budget = passes.toDouble).copy(totalWeight = length.toDouble)
        solver.round(data, request, shared, ResultHeader.allocate(length), cancellation)
        solver.free(request.fit)
      }
      assert(solver.stateEntries == entries)
    }
  }

  both("bad arguments are refused and leave no state behind") { make =>
    val p = make(1)
    val r = p.request(nextFit(), 0)
    val entries = solver.stateEntries
    def refused(
        request: RoundRequest = r,
        shared: Array[Byte] = p.pack(p.start),
        result: Array[Byte] = p.newResult,
        data: LocalData = p.data(0)): Unit = {
      val error = intercept[IllegalArgumentException](solver.round(data, request, shared, result, Cancellation.NEVER))
      assert(error.getMessage.nonEmpty)
    }
    refused(r.copy(sigmaPrime = 0.0))
    refused(r.copy(sigmaPrime = Double.NaN))
    refused(r.copy(totalWeight = 0.0))
    refused(r.copy(threads = 0))
    refused(r.copy(threads = 257))
    refused(r.copy(points = Array(1.0)))
    refused(r.copy(points = Array(1.0, Double.NaN)))
    refused(r.copy(points = new Array[Double](2 * CdLayout.MAX_POINTS + 2)))
    refused(shared = new Array[Byte](8))
    refused(result = new Array[Byte](8))
    refused(shared = p.pack(p.start.updated(3, Double.NaN)))
    refused(shared = p.pack(p.start.updated(3, Double.NegativeInfinity)))
    def subproblem(problem: Subproblem): Unit = refused(r.copy(subproblem = problem))
    (p.subproblem, p.data(0)) match {
      case (problem: PrimalSubproblem, data: ColumnData) =>
        subproblem(problem.copy(l1 = -1.0))
        subproblem(problem.copy(l2 = Double.PositiveInfinity))
        subproblem(problem.copy(scaleFactor = -1.0))
        subproblem(DualSubproblem(Squared, 1.0, 0.0, 0.0, Array.emptyDoubleArray, gradient = false))
        refused(data = data.copy(weights = Array(1.0)))
      case (problem: DualSubproblem, data: RowData) =>
        subproblem(problem.copy(l2 = 0.0))
        subproblem(problem.copy(intercept = -1.0))
        subproblem(problem.copy(offset = Double.NaN))
        // All gradients are those at the same coefficients.
        subproblem(problem.copy(gradient = true))
        subproblem(problem.copy(candidates = Array(Double.NaN)))
        subproblem(problem.copy(candidates = new Array[Double](CdLayout.MAX_CANDIDATES + 1)))
        refused(r.copy(certificate = true, subproblem = problem.copy(candidates = Array.emptyDoubleArray)))
        subproblem(PrimalSubproblem(0.0, 1.0, 0.0, centred = false))
        refused(data = data.copy(scale = Array(1.0)))
        val regression = new RowProblem(TestData.random(3, 60, 40, 0.2), 1, Squared, 0.1)
        refused(data = regression.data(0))
      case _ => fail("a problem of one orientation with data of the other")
    }
    assert(solver.stateEntries == entries)
    p.run(solver, r.fit, 1)
    val other = make(2)
    val wrong = intercept[IllegalArgumentException](other.round(solver, 0, other.request(r.fit, 0)))
    assert(wrong.getMessage.contains("partition"))
    solver.free(r.fit)
  }

  test("an overflow is an error, not a model") {
    val rows = Seq(LabeledRow(1e308, 1.0, Vectors.dense(1e-150)), LabeledRow(-1e308, 1.0, Vectors.dense(-1e-150)))
    for {
      (p, entry) <- Seq(
        new ColumnProblem(rows, 1, 0.0, 0.0, centred = false) -> "row",
        new RowProblem(rows.map(r => r.copy(features = Vectors.dense(1e10))), 1, Squared, 1e-20) -> "feature")
    } {
      val fit = nextFit()
      val error = intercept[RuntimeException](p.round(solver, 0, p.request(fit, 0)))
      assert(error.getMessage.contains(entry) && error.getMessage.contains("overflowed"))
      assert(solver.exportState(fit, 0).isEmpty)
      solver.free(fit)
    }
  }
}

private[solver] object CdSolverTests {
  private val fits = new AtomicLong(1000000L)

  def nextFit(): Long = fits.incrementAndGet()

  /** A result without its time. */
  def comparable(result: Array[Byte]): Seq[Byte] = {
    val copy = result.clone()
    ResultHeader.put(copy, ResultHeader.SOLVER_NANOS, 0.0)
    copy.toSeq
  }

  def content(state: WorkerState): (Long, Long, Long, Seq[Double], Seq[Double], Option[(Long, Long, Seq[Double])]) =
    (
      state.version,
      state.stamp,
      state.cursor,
      state.alpha.toSeq,
      state.previous.toSeq,
      state.pending.map(step => (step.round, step.cursor, step.delta.toSeq)))

  /** Points of a line search; from the fourth on they may leave the domain of a dual variable. */
  val points: Array[Double] = Array(1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.25, 0.0, 0.001, -0.5, 0.0, 1.5, -0.5)

  /**
   * Compares slopes, curves and samples of a round at [[points]] with the separable part itself, from the state after
   * the round. Points in `feasible` must be in the domain.
   */
  def checkAlong(p: LocalProblem, k: Int, result: Array[Byte], state: WorkerState, feasible: Set[Int]): Unit = {
    def slot(i: Int): Double = ResultHeader.get(result, i)
    val step = state.pending.get.delta
    val before = p.separable(k, state.alpha)
    val magnitude = 1.0 + math.abs(before)
    points.grouped(2).zipWithIndex.foreach { case (Array(g1, g2), at) =>
      val there = state.alpha.indices.map(i => state.alpha(i) + (g1 * step(i) + g2 * state.previous(i))).toArray
      val expected = p.separable(k, there) - before
      val sample = slot(CdLayout.SAMPLES + at)
      val found = slot(CdLayout.SLOPE1) * g1 + slot(CdLayout.SLOPE2) * g2 +
        (slot(CdLayout.CURVE11) * g1 * g1 + 2.0 * slot(CdLayout.CURVE12) * g1 * g2 +
          slot(CdLayout.CURVE22) * g2 * g2) / 2.0 + sample
      if (feasible(at)) assert(!expected.isInfinite, s"point $at")
      if (expected.isInfinite) assert(sample == Double.PositiveInfinity, s"point $at")
      else assert(math.abs(found - expected) <= 1e-12 * magnitude, s"point $at: $found, $expected")
    }
    val after = slot(CdLayout.VALUE_AFTER)
    assert(math.abs(slot(CdLayout.VALUE_BEFORE) - before) <= 1e-12 * magnitude)
    val end = state.alpha.zip(step).map { case (a, d) => a + d }
    assert(math.abs(after - p.separable(k, end)) <= 1e-12 * (1.0 + math.abs(after)))
  }
}
