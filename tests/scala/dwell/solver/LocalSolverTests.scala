package dwell.solver

import java.util.concurrent.{Callable, CancellationException, Executors, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import scala.jdk.CollectionConverters._

import org.apache.spark.ml.linalg.Vectors
import org.scalatest.funsuite.AnyFunSuite

import dwell.data.{ColumnPartition, LabeledRow, TestData}
import dwell.jni.Cancellation

/** What every local solver has to do, tested on each of them. */
private[solver] trait LocalSolverTests extends AnyFunSuite {
  import LocalSolverTests.{comparable, nextFit, resultOf}

  protected def solver: LocalSolver

  private def problem(
      seed: Int = 1,
      numPartitions: Int = 3,
      l1: Double = 0.01,
      l2: Double = 0.1,
      weighted: Boolean = false,
      centred: Boolean = true,
      scaleFactor: Double = 1.0): LocalProblem =
    new LocalProblem(
      TestData.random(seed, 60, 40, 0.2, weighted = weighted),
      numPartitions,
      l1,
      l2,
      centred,
      scaleFactor)

  private def slot(results: Seq[Array[Byte]], index: Int): Double = results.map(ResultLayout.get(_, index)).sum

  // ---- mathematics ----

  for {
    weighted <- Seq(false, true)
    centred <- Seq(false, true)
    scaleFactor <- Seq(0.0, 1.0, 1.05)
  } test(s"the objective falls, the gap bounds it: weighted=$weighted, centred=$centred, scaleFactor=$scaleFactor") {
    val p = problem(weighted = weighted, centred = centred, scaleFactor = scaleFactor)
    val fit = nextFit()
    val rounds = 300
    var residual = p.labels
    val history = (0 until rounds).map { t =>
      val results = p.partitions.indices.map(p.round(solver, _, p.request(fit, t, certificate = true), residual).get)
      val penalty = slot(results, ResultLayout.PenaltyBefore)
      val fitted = p.labels.zip(residual).map { case (y, r) => y - r }
      val product = residual.indices.map(j => p.rowWeights(j) * residual(j) * fitted(j)).sum / p.totalWeight
      val objective = p.loss(residual) + penalty
      val gap = penalty + slot(results, ResultLayout.Conjugate) - product
      residual = p.residualAfter(residual, results)
      val after = p.loss(residual) + slot(results, ResultLayout.PenaltyAfter)
      (objective, gap, after)
    }
    val best = history.last._3
    history.foreach { case (objective, gap, after) =>
      assert(after <= objective * (1.0 + 1e-12))
      assert(gap >= objective - best - 1e-12 * objective)
    }
    assert(history.last._2 <= 1e-8 * history.head._1, "the gap closes")
    // The driver's residual has not drifted from the coefficients.
    val products = p.partitions.indices.map(p.product(solver, _, p.request(fit, rounds)).get)
    val rebuilt = p.residualAfter(p.labels, products)
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
      val residual = p.labels.clone()
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

  test("ridge with an intercept solves the normal equations") {
    // y = 1 + 2 a - b exactly; the penalty is tiny.
    val rows = Seq((0.0, 1.0), (1.0, 3.0), (2.0, 0.0), (4.0, 1.0), (5.0, 5.0)).map { case (a, b) =>
      LabeledRow(1 + 2 * a - b, 1.0 + a, Vectors.dense(a, b))
    }
    val p = new LocalProblem(rows, 2, l1 = 0.0, l2 = 1e-12)
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
    assert(slot(results, ResultLayout.Conjugate) == 0.0)
    assert(results.map(ResultLayout.get(_, ResultLayout.Ratio)).max < 1.0)
    solver.free(fit)
  }

  test("the header says what was done") {
    val p = problem()
    val fit = nextFit()
    val result = p.round(solver, 0, p.request(fit, 0, budget = 0.5), p.labels).get
    val columns = p.partitions(0).numColumns
    assert(ResultLayout.get(result, ResultLayout.Coordinates) == math.ceil(columns * 0.5))
    assert(ResultLayout.get(result, ResultLayout.Nonzeros) > 0.0)
    assert(ResultLayout.get(result, ResultLayout.SolverNanos) > 0.0)
    assert(ResultLayout.get(result, ResultLayout.StateBytes) == 24.0 * columns)
    assert(ResultLayout.get(result, ResultLayout.Stamp) == 0.0)
    Seq(ResultLayout.Conjugate, ResultLayout.Ratio, ResultLayout.Correlation).foreach { index =>
      assert(ResultLayout.get(result, index).isNaN, "no certificate was asked for")
    }
    // Slots behind the solver's belong to the caller.
    val marked = ResultLayout.allocate(p.kept.size)
    (ResultLayout.FirstFreeSlot until ResultLayout.HeaderSlots).foreach(ResultLayout.put(marked, _, 5.0))
    assert(solver.round(p.partitions(1), p.weights, p.request(fit, 0), p.pack(p.labels), marked, Cancellation.NEVER))
    assert((ResultLayout.FirstFreeSlot until ResultLayout.HeaderSlots).forall(ResultLayout.get(marked, _) == 5.0))
    solver.free(fit)
  }

  test("a partition without columns and a dataset of one row") {
    val one = new LocalProblem(Seq(LabeledRow(3.0, 2.0, Vectors.dense(1.0, 2.0))), 2, 0.1, 0.1)
    val fit = nextFit()
    val results = one.run(solver, fit, 3, certificate = true).flatten
    assert(results.forall(one.vector(_).forall(_ == 0.0)))
    assert(results.forall(ResultLayout.get(_, ResultLayout.Coordinates) == 0.0))
    assert(one.partitions.indices.flatMap(one.product(solver, _, one.request(fit, 3))).size == 2)
    solver.free(fit)
  }

  // ---- protocol ----

  test("a repeated round gives the same bytes and is applied once") {
    val p = problem(weighted = true)
    val (once, twice) = (nextFit(), nextFit())
    val plain = p.run(solver, once, 6, budget = 0.6).flatten.map(comparable)
    var residual = p.labels
    val repeated = (0 until 6).flatMap { t =>
      val results = p.partitions.indices.map { k =>
        val attempts = Seq.fill(3)(p.round(solver, k, p.request(twice, t, budget = 0.6), residual).get)
        assert(attempts.map(comparable).distinct.size == 1)
        attempts.last
      }
      residual = p.residualAfter(residual, results)
      results.map(comparable)
    }
    assert(repeated == plain)
    Seq(once, twice).foreach(solver.free)
  }

  test("attempts that run at the same time give the same bytes") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    val pool = Executors.newFixedThreadPool(4)
    try {
      var residual = p.labels
      for (t <- 0 until 20) {
        val attempt: Callable[Seq[Byte]] = () => p.round(solver, 0, p.request(fit, t), residual).get.toSeq
        val results = pool.invokeAll(Seq.fill(4)(attempt).asJava).asScala.map(_.get.toArray)
        assert(results.map(comparable).distinct.size == 1)
        residual = p.residualAfter(residual, results.take(1).toSeq)
      }
    } finally {
      pool.shutdown()
      pool.awaitTermination(10, TimeUnit.SECONDS)
    }
    solver.free(fit)
  }

  test("the verdict decides what becomes of a step") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.round(solver, 0, p.request(fit, 0), p.labels)
    val first = solver.exportState(fit, 0).get
    assert(first.version == 0 && first.alpha.forall(_ == 0.0) && first.pending.exists(_.round == 0))
    val d0 = first.pending.get.delta

    p.round(solver, 0, p.request(fit, 1, theta1 = 0.5), p.labels)
    val half = solver.exportState(fit, 0).get
    assert(half.version == 1 && half.cursor == first.pending.get.cursor)
    assert(half.alpha.sameElements(d0.map(_ * 0.5)) && half.previous.sameElements(half.alpha))
    val d1 = half.pending.get.delta

    p.round(solver, 0, p.request(fit, 2, theta1 = 0.25, theta2 = 2.0), p.labels)
    val both = solver.exportState(fit, 0).get
    val added = d1.zip(half.previous).map { case (d, previous) => 0.25 * d + 2.0 * previous }
    assert(both.previous.sameElements(added))
    assert(both.alpha.sameElements(half.alpha.zip(added).map { case (a, b) => a + b }))

    p.round(solver, 0, p.request(fit, 3, theta1 = 0.0), p.labels)
    assert(solver.exportState(fit, 0).get.alpha.sameElements(both.alpha), "a rejected step leaves nothing")
    solver.free(fit)
  }

  test("a state that is missing, older, newer or of another stamp is lost") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    def lost(round: Long, stamp: Long): Boolean = {
      val before = solver.exportState(fit, 0).map(LocalSolverTests.content)
      val isLost = p.round(solver, 0, p.request(fit, round, stamps = Array(stamp)), p.labels).isEmpty
      assert(!isLost || solver.exportState(fit, 0).map(LocalSolverTests.content) == before, "a loss changes nothing")
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

  test("a product settles the pending step and keeps the state under a new stamp") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    val results = p.run(solver, fit, 2).map(_.head)
    val sum = p.residualAfter(p.residualAfter(Array.fill(p.kept.size)(0.0), results.take(1)), results.drop(1))
    val before = solver.exportState(fit, 0).get
    for (_ <- 0 until 2) {
      val product = p.product(solver, 0, p.request(fit, 2)).get
      assert(p.vector(product).zip(sum).forall { case (v, minus) => math.abs(v + minus) < 1e-12 })
      assert(ResultLayout.get(product, ResultLayout.Stamp) == 6.0)
      val state = solver.exportState(fit, 0).get
      assert(state.version == 3 && state.stamp == 6 && state.pending.isEmpty)
      assert(state.alpha.sameElements(before.commit(1.0, 0.0).alpha))
    }
    assert(p.round(solver, 0, p.request(fit, 3), p.labels).isEmpty, "the old stamp is lost")
    assert(p.round(solver, 0, p.request(fit, 3, stamps = Array(6L)), p.labels).nonEmpty, "training goes on from there")
    solver.free(fit)
  }

  test("a late product leaves the rounds after it alone") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val product = p.product(solver, 0, p.request(fit, 2)).get
    def late(): Option[Array[Byte]] = {
      val before = LocalSolverTests.content(solver.exportState(fit, 0).get)
      val answer = p.product(solver, 0, p.request(fit, 2))
      assert(LocalSolverTests.content(solver.exportState(fit, 0).get) == before)
      answer
    }
    val same = late()
    p.round(solver, 0, p.request(fit, 3, stamps = Array(6L)), p.labels).get
    val withStep = late()
    p.round(solver, 0, p.request(fit, 4, stamps = Array(6L)), p.labels).get
    assert(Seq(same, withStep).flatten.map(p.vector(_).toSeq) == Seq.fill(2)(p.vector(product).toSeq))
    assert(Seq(same, withStep).flatten.forall(ResultLayout.get(_, ResultLayout.Stamp) == 6.0))
    assert(late().isEmpty, "the state is of a later round")
    solver.free(fit)
  }

  test("a step that a product dropped does not come back") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    assert(ResultLayout.get(p.product(solver, 0, p.request(fit, 1)).get, ResultLayout.Stamp) == 4.0)
    Thread.sleep(5)
    assert(solver.expire(0) > 0L)
    // The messages from before the product arrive once more.
    p.run(solver, fit, 2)
    assert(p.round(solver, 0, p.request(fit, 2, stamps = Array(4L)), p.labels).isEmpty)
    solver.free(fit)
  }

  test("of two products that differ the first stays") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val result = ResultLayout.allocate(p.kept.size)
    val calls = new AtomicInteger()
    val loseAndRepeat: Cancellation = () => {
      if (calls.getAndIncrement() == 0) {
        Thread.sleep(5)
        solver.expire(0)
        p.product(solver, 0, p.request(fit, 2)).get
        p.round(solver, 0, p.request(fit, 3, stamps = Array(7L)), p.labels).get
      }
      false
    }
    assert(solver.product(p.partitions(0), p.weights, p.request(fit, 2), result, loseAndRepeat))
    assert(ResultLayout.get(result, ResultLayout.Stamp) == 6.0)
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

  test("a product drops the step of its own round") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 3)
    val before = solver.exportState(fit, 0).get
    assert(before.version == 2 && before.pending.exists(_.round == 2))
    p.product(solver, 0, p.request(fit, 2)).get
    val after = solver.exportState(fit, 0).get
    assert(after.version == 3 && after.pending.isEmpty && after.alpha.sameElements(before.alpha))
    solver.free(fit)
  }

  test("a product without a matching state starts again from zero, under a new stamp") {
    val p = problem(numPartitions = 1)
    for (present <- Seq(false, true)) {
      val fit = nextFit()
      if (present) p.run(solver, fit, 2)
      val product = p.product(solver, 0, p.request(fit, 7)).get
      assert(ResultLayout.get(product, ResultLayout.Stamp) == 17.0 && p.vector(product).forall(_ == 0.0))
      assert(p.round(solver, 0, p.request(fit, 8), p.labels).isEmpty, "the old stamp is lost")
      assert(p.round(solver, 0, p.request(fit, 8, stamps = Array(17L)), p.labels).nonEmpty)
      solver.free(fit)
    }
  }

  /** Runs `action` in the middle of a round. */
  private def during(p: LocalProblem, r: RoundRequest)(action: => Unit): Option[Array[Byte]] = {
    val calls = new AtomicInteger()
    p.round(solver, 0, r, p.labels, () => { if (calls.getAndIncrement() == 0) action; false })
  }

  test("a step that comes too late is refused") {
    val p = problem(numPartitions = 1)
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

  test("a freed fit cannot be brought back") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 1)
    val state = solver.exportState(fit, 0).get
    val entries = solver.stateEntries
    assert(solver.free(fit) == 24L * p.partitions(0).numColumns && solver.free(fit) == 0L)
    assert(solver.stateEntries == entries - 1)
    assert(p.round(solver, 0, p.request(fit, 0), p.labels).isEmpty)
    assert(p.product(solver, 0, p.request(fit, 0)).isEmpty)
    solver.importState(fit, 0, state)
    assert(solver.exportState(fit, 0).isEmpty && solver.stateEntries == entries - 1)
  }

  test("bytes are counted, idle states expire") {
    val p = problem()
    val fit = nextFit()
    Thread.sleep(5)
    solver.expire(0)
    assert(solver.stateBytes == 0L && solver.stateEntries == 0L)
    p.run(solver, fit, 2)
    val columns = p.partitions.map(_.numColumns).sum
    assert(solver.stateBytes == 24L * columns && solver.stateEntries == 3L)
    assert(solver.expire(60000) == 0L)
    intercept[IllegalArgumentException](solver.expire(-1))
    Thread.sleep(30)
    p.round(solver, 1, p.request(fit, 1), p.labels)
    val young = 24L * p.partitions(1).numColumns
    assert(solver.expire(20) == 24L * columns - young)
    assert(solver.stateBytes == young && solver.exportState(fit, 1).nonEmpty)
    assert(p.round(solver, 0, p.request(fit, 2), p.labels).isEmpty)
    solver.free(fit)
    assert(solver.stateBytes == 0L && solver.stateEntries == 0L)
  }

  test("state that travels gives the same bytes as state that stays") {
    val p = problem(weighted = true)
    val stays = nextFit()
    val expected = p.run(solver, stays, 8, budget = 0.4).flatten.map(comparable)
    var residual = p.labels
    var states = p.partitions.map(part => WorkerState.zero(part.numColumns))
    val travelling = (0 until 8).flatMap { t =>
      val fit = nextFit()
      val results = p.partitions.indices.map { k =>
        solver.importState(fit, k, states(k))
        p.round(solver, k, p.request(fit, t, budget = 0.4), residual).get
      }
      states = p.partitions.map(part => solver.exportState(fit, part.index).get.commit(1.0, 0.0))
      solver.free(fit)
      residual = p.residualAfter(residual, results)
      results.map(comparable)
    }
    assert(travelling == expected)
    solver.free(stays)
  }

  test("states of two fits and two partitions do not meet") {
    val p = problem(numPartitions = 2)
    val (a, b) = (nextFit(), nextFit())
    val alone = p.run(solver, a, 3).flatten.map(comparable)
    p.run(solver, b, 1)
    solver.free(a)
    var residual = p.labels
    val resumed = (0 until 3).flatMap { t =>
      val results = p.partitions.indices.map(p.round(solver, _, p.request(b, t), residual).get)
      residual = p.residualAfter(residual, results)
      results.map(comparable)
    }
    assert(resumed == alone)
    solver.free(b)
  }

  // ---- cancellation and bad input ----

  test("a cancelled round or product leaves the state as it was") {
    val p = problem(numPartitions = 1)
    val fit = nextFit()
    p.run(solver, fit, 2)
    val before = LocalSolverTests.content(solver.exportState(fit, 0).get)
    intercept[CancellationException](p.round(solver, 0, p.request(fit, 2), p.labels, () => true))
    val result = ResultLayout.allocate(p.kept.size)
    intercept[CancellationException](solver.product(p.partitions(0), p.weights, p.request(fit, 2), result, () => true))
    val mine = intercept[IllegalStateException] {
      p.round(solver, 0, p.request(fit, 2), p.labels, () => throw new IllegalStateException("from the callback"))
    }
    assert(mine.getMessage == "from the callback")
    assert(LocalSolverTests.content(solver.exportState(fit, 0).get) == before)
    solver.free(fit)
  }

  test("a long round is cancelled in its middle, within a second") {
    val columns = 500
    val rows = 20000
    val random = new scala.util.Random(3)
    val offsets = Array.tabulate(columns + 1)(_ * rows)
    val p = new ColumnPartition(
      0,
      rows,
      Array.range(0, columns),
      offsets,
      Array.tabulate(columns * rows)(_ % rows),
      null,
      null,
      Array.fill(columns)(0.5),
      Array.fill(columns)(0.25),
      Array.fill(columns)(0.5))
    val problem = new LocalProblem(TestData.random(1, 10, 4, 0.5), 1, 0.0, 0.1)
    val request = problem.request(nextFit(), 0, budget = 1e6).copy(totalWeight = rows.toDouble)
    val residual = problem.pack(Array.fill(rows)(random.nextGaussian()))
    val cancelAt = new AtomicLong(Long.MaxValue)
    val cancellation: Cancellation = () => {
      cancelAt.compareAndSet(Long.MaxValue, System.nanoTime() + 300000000L)
      System.nanoTime() > cancelAt.get
    }
    intercept[CancellationException] {
      solver.round(p, null, request, residual, ResultLayout.allocate(rows), cancellation)
    }
    assert(System.nanoTime() - cancelAt.get < 1000000000L)
    assert(solver.exportState(request.fit, 0).isEmpty)
  }

  test("bad arguments are refused and leave no state behind") {
    val p = problem(numPartitions = 1)
    val r = p.request(nextFit(), 0)
    val entries = solver.stateEntries
    def refused(
        request: RoundRequest = r,
        residual: Array[Byte] = p.pack(p.labels),
        result: Array[Byte] = ResultLayout.allocate(p.kept.size),
        weights: Array[Double] = p.weights): Unit = {
      val error = intercept[IllegalArgumentException] {
        solver.round(p.partitions(0), weights, request, residual, result, Cancellation.NEVER)
      }
      assert(error.getMessage.nonEmpty)
    }
    refused(r.copy(sigmaPrime = 0.0))
    refused(r.copy(sigmaPrime = Double.NaN))
    refused(r.copy(l1 = -1.0))
    refused(r.copy(l2 = Double.PositiveInfinity))
    refused(r.copy(totalWeight = 0.0))
    refused(r.copy(scaleFactor = -1.0))
    refused(residual = new Array[Byte](8))
    refused(result = new Array[Byte](8))
    refused(weights = Array(1.0))
    refused(residual = p.pack(p.labels.updated(3, Double.NaN)))
    refused(residual = p.pack(p.labels.updated(3, Double.NegativeInfinity)))
    assert(solver.stateEntries == entries)
    p.run(solver, r.fit, 1)
    val other = problem(numPartitions = 2)
    val wrong = intercept[IllegalArgumentException](other.round(solver, 0, other.request(r.fit, 0), other.labels))
    assert(wrong.getMessage.contains("columns"))
    solver.free(r.fit)
  }

  test("an overflow is an error, not a model") {
    val rows = Seq(LabeledRow(1e308, 1.0, Vectors.dense(1e-150)), LabeledRow(-1e308, 1.0, Vectors.dense(-1e-150)))
    val p = new LocalProblem(rows, 1, 0.0, 0.0, centred = false)
    val fit = nextFit()
    val error = intercept[RuntimeException](resultOf(p, solver, fit))
    assert(error.getMessage.contains("row"))
    assert(solver.exportState(fit, 0).isEmpty)
    solver.free(fit)
  }
}

private[solver] object LocalSolverTests {
  private val fits = new AtomicLong(1000000L)

  def nextFit(): Long = fits.incrementAndGet()

  /** A result without the time it took. */
  def comparable(result: Array[Byte]): Seq[Byte] = {
    val copy = result.clone()
    ResultLayout.put(copy, ResultLayout.SolverNanos, 0.0)
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

  def resultOf(p: LocalProblem, solver: LocalSolver, fit: Long): Array[Byte] =
    p.round(solver, 0, p.request(fit, 0), p.labels).get
}
