package dwell.solver.cd

import java.util.concurrent.{Callable, CancellationException, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import dwell.LimitedSuite
import dwell.data.{RowData, TestData}
import dwell.jni.{Cancellation, CdLayout, NativeBridge, ResultHeader}
import dwell.problem.{Hinge, Squared}
import dwell.solver.cd.worker.{NativeCd, RoundRequest, WorkerState}
import dwell.spark.NativeLibrary

/** Rounds of coordinate descent: least squares on columns, and the protocol in both orientations. */
class NativeCdSuite extends LimitedSuite {
  import LocalProblem.{comparable, nextFit}

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
      val results = p.partitions.indices.map(p.round(_, p.request(fit, t, certificate = true), residual).get)
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
    val products = p.partitions.indices.map(p.product(_, p.request(fit, rounds)).get)
    val rebuilt = p.after(p.start, products)
    assert(rebuilt.zip(residual).forall { case (a, b) => math.abs(a - b) < 1e-12 })
    if (centred) assert(math.abs(rebuilt.zip(p.rowWeights).map { case (r, s) => r * s }.sum) < 1e-10 * p.totalWeight)
    NativeLibrary.free(fit)
  }

  test("a lasso penalty above the largest correlation keeps every coefficient at zero") {
    val p = problem(l1 = 1e3, l2 = 0.0)
    val fit = nextFit()
    val results = p.run(fit, 1, certificate = true).head
    assert(results.forall(p.vector(_).forall(_ == 0.0)) && p.coefficients(fit).values.forall(_ == 0.0))
    assert(slot(results, CdLayout.CONJUGATE) == 0.0)
    assert(results.map(ResultHeader.get(_, CdLayout.RATIO)).max < 1.0)
    NativeLibrary.free(fit)
  }

  // ---- protocol ----

  both("attempts that run at the same time give the same bytes") { make =>
    val p = make(1)
    val fit = nextFit()
    val pool = Executors.newFixedThreadPool(4)
    try {
      var shared = p.start
      for (t <- 0 until 20) {
        val attempt: Callable[Seq[Byte]] = () => p.round(0, p.request(fit, t), shared).get.toSeq
        val results = pool.invokeAll(Seq.fill(4)(attempt).asJava).asScala.map(_.get.toArray)
        assert(results.map(comparable).distinct.size == 1)
        shared = p.after(shared, results.take(1).toSeq)
      }
    } finally {
      pool.shutdown()
      pool.awaitTermination(10, TimeUnit.SECONDS)
    }
    NativeLibrary.free(fit)
  }

  both("of two products that differ the first stays") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(fit, 2)
    val result = p.newResult
    val calls = new AtomicInteger()
    val loseAndRepeat: Cancellation = () => {
      if (calls.getAndIncrement() == 0) {
        Thread.sleep(5)
        NativeBridge.expire(0)
        p.product(0, p.request(fit, 2)).get
        p.round(0, p.request(fit, 3, stamps = Array(7L)), p.start).get
      }
      false
    }
    assert(NativeCd.product(p.data(0), p.request(fit, 2), result, loseAndRepeat))
    assert(ResultHeader.get(result, CdLayout.STAMP) == 6.0)
    val state = NativeCd.exportState(fit, 0).get
    assert(state.version == 3 && state.stamp == 7 && state.pending.exists(_.round == 3))
    NativeLibrary.free(fit)
  }

  test("odd stamps are of products that started again") {
    import WorkerState.Stamp
    assert(!Stamp.isRestart(0L))
    for (version <- 1L to 5L; restarted <- Seq(false, true)) {
      assert(Stamp.isRestart(2L * version + (if (restarted) 1L else 0L)) == restarted)
    }
  }

  /** Runs `action` in the middle of a round. */
  private def during(p: LocalProblem, r: RoundRequest)(action: => Unit): Option[Array[Byte]] = {
    val calls = new AtomicInteger()
    p.round(0, r, p.start, () => { if (calls.getAndIncrement() == 0) action; false })
  }

  both("a step that comes too late is refused") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(fit, 2)
    val late = during(p, p.request(fit, 2)) {
      p.product(0, p.request(fit, 2)).get
    }
    assert(late.isEmpty)
    val state = NativeCd.exportState(fit, 0).get
    assert(state.version == 3 && state.pending.isEmpty)
    val gone = during(p, p.request(fit, 3, stamps = Array(6L))) {
      NativeLibrary.free(fit)
    }
    assert(gone.isEmpty && NativeCd.exportState(fit, 0).isEmpty)
  }

  both("bytes are counted, idle states expire") { make =>
    val p = make(3)
    val fit = nextFit()
    Thread.sleep(5)
    NativeBridge.expire(0)
    assert(NativeBridge.stateBytes == 0L && NativeBridge.stateEntries == 0L)
    p.run(fit, 2)
    // A row has a norm and a projection, too.
    val each = if (p.data.head.isInstanceOf[RowData]) 40L else 24L
    val bytes = each * p.coordinates
    assert(NativeBridge.stateBytes == bytes && NativeBridge.stateEntries == 3L)
    assert(NativeBridge.expire(60000) == 0L)
    Thread.sleep(600)
    p.round(1, p.request(fit, 1), p.start)
    val young = each * p.data(1).coordinates
    assert(NativeBridge.expire(500) == bytes - young)
    assert(NativeBridge.stateBytes == young && NativeCd.exportState(fit, 1).nonEmpty)
    assert(p.round(0, p.request(fit, 2), p.start).isEmpty)
    NativeLibrary.free(fit)
    assert(NativeBridge.stateBytes == 0L && NativeBridge.stateEntries == 0L)
  }

  both("states of two fits and two partitions do not meet") { make =>
    val p = make(2)
    val (a, b) = (nextFit(), nextFit())
    val alone = p.run(a, 3).flatten.map(comparable)
    p.run(b, 1)
    NativeLibrary.free(a)
    var shared = p.start
    val resumed = (0 until 3).flatMap { t =>
      val results = p.data.indices.map(p.round(_, p.request(b, t), shared).get)
      shared = p.after(shared, results)
      results.map(comparable)
    }
    assert(resumed == alone)
    NativeLibrary.free(b)
  }

  // ---- cancellation and bad input ----

  both("a cancelled product leaves the state as it was") { make =>
    val p = make(1)
    val fit = nextFit()
    p.run(fit, 2)
    val before = content(NativeCd.exportState(fit, 0).get)
    intercept[CancellationException](NativeCd.product(p.data(0), p.request(fit, 2), p.newResult, () => true))
    assert(content(NativeCd.exportState(fit, 0).get) == before)
    NativeLibrary.free(fit)
  }

  both("data of the other orientation are refused") { make =>
    val p = make(1)
    val other = p match {
      case _: ColumnProblem => new RowProblem(TestData.random(3, 60, 40, 0.2), 1, Squared, 0.1)
      case _ => problem(numPartitions = 1)
    }
    val r = p.request(nextFit(), 0)
    intercept[IllegalArgumentException](
      NativeCd.round(other.data(0), r, p.pack(p.start), p.newResult, Cancellation.NEVER))
    intercept[IllegalArgumentException](NativeCd.product(other.data(0), r, p.newResult, Cancellation.NEVER))
    assert(NativeCd.exportState(r.fit, 0).isEmpty)
  }

  private def content(
      state: WorkerState): (Long, Long, Long, Seq[Double], Seq[Double], Option[(Long, Long, Seq[Double])]) =
    (
      state.version,
      state.stamp,
      state.cursor,
      state.alpha.toSeq,
      state.previous.toSeq,
      state.pending.map(step => (step.round, step.cursor, step.delta.toSeq)))
}
