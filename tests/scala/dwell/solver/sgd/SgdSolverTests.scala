package dwell.solver.sgd

import java.util.concurrent.{Callable, CancellationException, Executors}

import scala.util.Random

import dwell.LimitedSuite
import dwell.base.BucketOrder
import dwell.data.RowData
import dwell.data.TestData.Values
import dwell.data.rows.RowPartition
import dwell.jni.{Cancellation, ResultHeader, SgdLayout}
import dwell.solver.Questions
import dwell.solver.cd.CdSolverTests.nextFit
import dwell.solver.problem.{Hinge, Labels, Logistic, Loss, MarginLoss, SmoothedHinge, Softmax, Squared, SquaredHinge, StepSchedule}
import dwell.solver.sgd.contract.{Descend, Evaluate, Search, SgdProblem, SgdSolver}

/** Tests of every local solver for stochastic gradient descent. */
private[sgd] trait SgdSolverTests extends LimitedSuite {
  import SgdSolverTests._

  protected def solver: SgdSolver

  private def slot(result: Array[Byte], index: Int): Double = ResultHeader.get(result, index)

  // ---- descent ----

  for (loss <- losses; running <- Seq(false, true)) {
    test(s"descent is that of eager steps on dense data: $loss, running=$running") {
      for {
        ((l1, l2), k) <- penalties.zipWithIndex
        weighted <- Seq(false, true)
        scaled <- Seq(false, true)
        intercept <- Seq(false, true)
        dense <- Seq(false, true)
      } {
        val values = Seq[Values](Values.Ones, Values.Singles, Values.Doubles)(k % 3)
        val c = new SgdCase(
          k,
          loss,
          values = values,
          l1 = l1,
          l2 = l2,
          weighted = weighted,
          scaled = scaled,
          intercept = intercept,
          dense = dense)
        val schedule = StepSchedule(kinds(k % 3), 0.05, 0.1)
        compareWithEager(
          c,
          c.descent.copy(schedule = schedule, running = running, budget = 150L, cursor = 7L, steps = 9L, share = 0.25))
      }
    }

    test(s"coefficients are renormalised: $loss, running=$running") {
      // Every step halves the factor: after 1075 steps it would be 0.
      for ((l1, seed) <- Seq(0.0, 1e-4, 0.05).zipWithIndex) {
        val c = new SgdCase(seed, loss, l1 = l1, l2 = 10.0)
        compareWithEager(c, c.descent.copy(running = running, budget = 1200L))
      }
    }
  }

  private def compareWithEager(c: SgdCase, r: Descend): Unit = {
    val result = c.descend(solver, r)
    val (rows, cursor) = c.eager.visited(r.seed, r.budget, r.cursor)
    val expected = c.eager.descend(c.model, rows, r.schedule, r.steps)
    val model = if (r.running) expected.mean else expected.model
    close(SgdCase.vector(result), model.map(r.share * _), c.toString)
    val found =
      Seq(SgdLayout.LOSS_SUM, SgdLayout.WEIGHT_SUM, SgdLayout.L1_NORM, SgdLayout.SQUARE_NORM).map(slot(result, _))
    close(
      found.toArray,
      Array(expected.lossSum, expected.weightSum, c.eager.l1Norm(c.model), c.eager.squareNorm(c.model)),
      c.toString)
    assert(slot(result, SgdLayout.DIVERGED) == 0.0 && slot(result, SgdLayout.ROWS) == rows.size)
    assert(slot(result, ResultHeader.NONZEROS) == expected.nonzeros)
    assert(slot(result, SgdLayout.CURSOR) == cursor && slot(result, SgdLayout.STEPS) == r.steps + rows.size)
  }

  for (running <- Seq(false, true)) {
    test(s"the history of a descent has an end: running=$running") {
      // Without decay only the number of steps causes a new start.
      val c = new SgdCase(1, Squared, rows = 5, features = 4, density = 0.5, l1 = 1e-3, l2 = 0.0)
      compareWithEager(c, c.descent.copy(running = running, budget = 1050000L))
    }
  }

  test("calls that follow one another are one descent") {
    for (loss <- losses; (l1, l2) <- penalties; kind <- kinds) {
      val c = new SgdCase(3, loss, l1 = l1, l2 = l2)
      val r = c.descent.copy(schedule = StepSchedule(kind, 0.05, 0.1), budget = 105L)
      var model = c.model
      var (cursor, steps) = (0L, 0L)
      for (_ <- 0 until 15) {
        val result = c.descend(solver, r.copy(budget = 7L, cursor = cursor, steps = steps), model)
        model = SgdCase.vector(result)
        cursor = slot(result, SgdLayout.CURSOR).toLong
        steps = slot(result, SgdLayout.STEPS).toLong
      }
      assert(steps == 105L)
      close(model, SgdCase.vector(c.descend(solver, r)), c.toString)
    }
  }

  test("whole buckets are visited, and no row twice in an epoch") {
    // Buckets of 3 rows.
    val c = new SgdCase(5, Squared, rows = 1000)
    val rows = c.data.partition.numRows
    val size = new BucketOrder(rows, 42L, 0).bucketSize
    assert(size > 1)
    compareWithEager(c, c.descent.copy(budget = 10L * size + 1L))
    val epoch = c.descend(solver, c.descent.copy(budget = rows.toLong))
    assert(slot(epoch, SgdLayout.ROWS) == rows)
    assert(math.abs(slot(epoch, SgdLayout.WEIGHT_SUM) - c.data.partition.weights.sum) < 1e-9)
  }

  test("a descent that diverges leaves the model as it was, and says so") {
    for (running <- Seq(false, true); (l1, l2) <- penalties;
      loss <- Seq(Squared, SquaredHinge)) {
      val c = new SgdCase(2, loss, l1 = l1, l2 = l2)
      val eta0 = if (l2 > 0.0) 9.99 else 1e6
      // If the L2 penalty bounds the step size, large weights make the descent diverge.
      val problem = c.problem.copy(weightFactor = 1e6)
      val r = c.descent.copy(
        problem = problem,
        schedule = StepSchedule(StepSchedule.Constant, eta0, 0.0),
        budget = 1000000L,
        cursor = 3L,
        steps = 8L,
        share = 0.5,
        running = running)
      val result = c.descend(solver, r)
      assert(SgdCase.vector(result).toSeq == c.model.map(0.5 * _).toSeq)
      assert(slot(result, SgdLayout.DIVERGED) == 1.0 && slot(result, SgdLayout.LOSS_SUM) == Double.PositiveInfinity)
      val rows = slot(result, SgdLayout.ROWS)
      assert(rows > 0 && rows < 1000000 && slot(result, SgdLayout.STEPS) == 8 + rows)
      assert(slot(result, SgdLayout.CURSOR) == 3 + rows + 1, "the row at fault is in a bucket that was begun")
      assert(slot(result, SgdLayout.WEIGHT_SUM) > 0.0 && !slot(result, SgdLayout.WEIGHT_SUM).isInfinite)
    }
    // A step that overflows: only the model at the end shows it.
    val data = SgdCase.dense(Seq(Seq(1e300)), Seq(1e10))
    val problem = SgdProblem(Squared, 0.0, 0.0, intercept = false, weightFactor = 1.0)
    val result = SgdLayout.allocate(1, 1)
    val r =
      Descend(nextFit(), 1L, problem, StepSchedule(StepSchedule.Constant, 1.0, 0.0), 1L, 0L, 0L, running = false, 1.0)
    solver.descend(data, r, new Array[Byte](16), result, Cancellation.NEVER)
    assert(slot(result, SgdLayout.DIVERGED) == 1.0 && slot(result, SgdLayout.ROWS) == 1.0)
    assert(SgdCase.vector(result).toSeq == Seq(0.0, 0.0))
  }

  test("a prediction or a derivative that overflows is divergence, though the loss is finite") {
    def problem(loss: MarginLoss, weightFactor: Double): SgdProblem =
      SgdProblem(loss, 0.0, 0.0, intercept = true, weightFactor)
    val schedule = StepSchedule(StepSchedule.Constant, 1e-300, 0.0)
    val safe = Array(1e300, 1.0)
    for {
      (x, y, p) <- Seq((1e300, 1.0, problem(Hinge, 1.0)), (1e-300, 1e10, problem(Squared, 1e300)))
      data = SgdCase.dense(Seq(Seq(x)), Seq(y))
    } {
      val result = SgdLayout.allocate(1, 1)
      val r = Descend(nextFit(), 1L, p, schedule, 1L, 0L, 0L, running = false, 0.5)
      solver.descend(data, r, SgdCase.pack(safe), result, Cancellation.NEVER)
      assert(slot(result, SgdLayout.DIVERGED) == 1.0 && slot(result, SgdLayout.ROWS) == 0.0)
      assert(slot(result, SgdLayout.LOSS_SUM) == Double.PositiveInfinity)
      assert(SgdCase.vector(result).toSeq == safe.map(0.5 * _).toSeq)
    }
    val result = SgdLayout.allocate(1, 1)
    val evaluation = Evaluate(nextFit(), problem(Hinge, 1.0), 1.0, None)
    val data = SgdCase.dense(Seq(Seq(1e300)), Seq(1.0))
    solver.evaluate(data, evaluation, SgdCase.pack(safe), result, Cancellation.NEVER)
    assert(slot(result, SgdLayout.DIVERGED) == 1.0 && slot(result, SgdLayout.ROWS) == 0.0)
    assert(SgdCase.vector(result).toSeq == Seq(0.0, 0.0))
  }

  test("at its corner the hinge has no derivative, and nothing but decay happens") {
    val problem = SgdProblem(Hinge, 0.0, 0.5, intercept = true, weightFactor = 1.0)
    val data = SgdCase.dense(Seq(Seq(1.0, 1.0)), Seq(1.0))
    val result = SgdLayout.allocate(2, 1)
    val r =
      Descend(nextFit(), 1L, problem, StepSchedule(StepSchedule.Constant, 0.5, 0.0), 1L, 0L, 0L, running = false, 1.0)
    solver.descend(data, r, SgdCase.pack(Array(0.25, 0.25, 0.5)), result, Cancellation.NEVER)
    assert(SgdCase.vector(result).toSeq == Seq(0.1875, 0.1875, 0.5))
  }

  /** Rows that use only the first five of nine features; the other features have coefficients, too. */
  private def withUnseen(loss: Loss, l1: Double, l2: Double): (SgdCase, RowData) = {
    val c = new SgdCase(6, loss, features = 9, l1 = l1, l2 = l2, scaled = false)
    val p = c.data.partition
    val dense = Seq.tabulate(p.numRows)(i => Seq.tabulate(5)(j => ((i * 7 + j * 3) % 11) / 11.0 - 0.4))
    (c, SgdCase.dense(dense, p.labels.toSeq, features = 9))
  }

  test("coefficients that no step touches are the shared ones times the factors that are reported") {
    var most = 0
    for {
      loss <- losses
      kind <- kinds
      (l2, eta0, budget) <- Seq((0.0, 0.05, 60L), (0.1, 0.05, 60L), (0.5, 1.9, 60L), (10.0, 0.05, 250L))
      (l1, running) <- Seq((0.0, false), (0.0, true), (1e-4, false), (1e-4, true))
    } {
      val (c, data) = withUnseen(loss, l1, l2)
      val shared = c.model.map(_ + 0.125)
      def descend(r: Descend): (Array[Byte], Seq[Double]) = {
        val result = c.newResult
        solver.descend(data, r, SgdCase.pack(shared), result, Cancellation.NEVER)
        (result, SgdLayout.factors(result).toSeq)
      }
      def isUntouched(result: Array[Byte], factors: Seq[Double]): Unit = {
        val vector = SgdCase.vector(result)
        for (at <- 5 * c.outputs until 9 * c.outputs) {
          assert(bits(vector(at)) == bits(factors.foldLeft(shared(at))(_ * _)), s"$c, entry $at")
        }
        assert(vector.take(5 * c.outputs).zip(shared).exists { case (w, x) => w != factors.foldLeft(x)(_ * _) })
      }
      val r = c.descent.copy(
        fit = nextFit(),
        schedule = StepSchedule(kind, eta0, 1e-3),
        budget = budget,
        share = 0.3,
        running = running)
      val (result, factors) = descend(r)
      if (slot(result, SgdLayout.DIVERGED) == 1.0) assert(factors == Seq(0.3))
      else if (l1 > 0.0 || running) assert(factors.isEmpty && slot(result, SgdLayout.FACTOR) == 0.0)
      else {
        most = math.max(most, factors.size)
        assert(factors.last == 0.3 && factors.size >= 2)
        isUntouched(result, factors)
        // More renormalisations than there is room for.
        if (l2 == 10.0) {
          val (long, none) = descend(r.copy(schedule = StepSchedule(StepSchedule.Constant, 0.05, 0.0), budget = 1000L))
          assert(none.isEmpty && slot(long, SgdLayout.FACTOR) == 0.0 && slot(long, SgdLayout.DIVERGED) == 0.0)
        }
      }
    }
    assert(most > 10 && most <= SgdLayout.MAX_FACTORS)
  }

  test("what is said of untouched coefficients after divergence, and of a partition without rows") {
    for (loss <- Seq(Squared, Softmax(3)); l1 <- Seq(0.0, 0.1); running <- Seq(false, true)) {
      val (c, data) = withUnseen(loss, l1, 0.0)
      val model = c.model.map(_ + 0.125)
      val r = c.descent.copy(fit = nextFit(), share = 0.3, running = running)
      val diverging = r.copy(
        problem = r.problem.copy(weightFactor = 1e300),
        schedule = StepSchedule(StepSchedule.Constant, 1e300, 0.0))
      val result = c.newResult
      solver.descend(data, diverging, SgdCase.pack(model), result, Cancellation.NEVER)
      assert(slot(result, SgdLayout.DIVERGED) == 1.0 && SgdLayout.factors(result).toSeq == Seq(0.3))
      assert(SgdCase.vector(result).map(bits).toSeq == model.map(x => bits(0.3 * x)).toSeq)
      val empty = c.newResult
      solver.descend(
        SgdCase.dense(Nil, Nil, features = 9),
        r.copy(fit = nextFit()),
        SgdCase.pack(model),
        empty,
        Cancellation.NEVER)
      assert(SgdLayout.factors(empty).toSeq == (if (l1 > 0.0 || running) Nil else Seq(1.0, 0.3)))
      assert(SgdCase.vector(empty).map(bits).toSeq == model.map(x => bits(0.3 * x)).toSeq)
    }
  }

  private def bits(x: Double): Long = java.lang.Double.doubleToRawLongBits(x)

  test("an intercept that the problem does not have stays as it is") {
    for (running <- Seq(false, true)) {
      val c = new SgdCase(4, Squared, intercept = false)
      assert(c.model.last == 0.0)
      assert(SgdCase.vector(c.descend(solver, c.descent.copy(running = running))).last == 0.0)
    }
  }

  test("a feature of scale 0 keeps coefficients of 0") {
    for (running <- Seq(false, true); loss <- Seq(Squared, Softmax(3)); l1 <- Seq(0.0, 0.01)) {
      val c = new SgdCase(4, loss, l1 = l1)
      assert(c.data.scale.take(2).toSeq == Seq(0.0, 0.0))
      val found = SgdCase.vector(c.descend(solver, c.descent.copy(running = running)))
      assert(found.take(2 * loss.outputs).forall(_ == 0.0) && found.exists(_ != 0.0))
    }
  }

  test("a partition without rows") {
    val data = SgdCase.dense(Nil, Nil, features = 3)
    val model = Array(1.0, -2.0, 0.5, 0.25)
    val problem = SgdProblem(Squared, 0.1, 0.1, intercept = true, weightFactor = 1.0)
    val schedule = StepSchedule(StepSchedule.Constant, 0.1, 0.0)
    for (running <- Seq(false, true)) {
      val result = SgdLayout.allocate(3, 1)
      solver.descend(
        data,
        Descend(nextFit(), 1L, problem, schedule, 10L, 4L, 5L, running, 0.5),
        SgdCase.pack(model),
        result,
        Cancellation.NEVER)
      assert(SgdCase.vector(result).toSeq == model.map(0.5 * _).toSeq)
      val numbers = Seq(0.0, 0.0, 3.5, 5.25, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0, 5.0, 0.0, 0.0, 3.5, 5.25)
      assert(header(result) == numbers ++ Seq.fill(41)(0.0))
    }
    val result = SgdLayout.allocate(3, 1)
    solver.evaluate(data, Evaluate(nextFit(), problem, 2.0, None), SgdCase.pack(model), result, Cancellation.NEVER)
    assert(SgdCase.vector(result).forall(_ == 0.0) && header(result) == Seq(0.0, 0.0, 3.5, 5.25) ++ Seq.fill(52)(0.0))
    val found = new Array[Byte](ResultHeader.BYTES)
    solver.search(
      data,
      Search(nextFit(), 1L, problem, schedule, Array(0.1), 10L, 4L, 5L),
      SgdCase.pack(model),
      found,
      Cancellation.NEVER)
    assert(math.abs(slot(found, SgdLayout.OBJECTIVES) - (0.1 * 3.5 + 0.05 * 5.25)) < 1e-15)
  }

  /** The solver's slots, without the time. */
  private def header(result: Array[Byte]): Seq[Double] =
    (0 until ResultHeader.FIRST_FREE).map(k => if (k == ResultHeader.SOLVER_NANOS) 0.0 else slot(result, k))

  // ---- search ----

  for (loss <- losses) test(s"a search finds the objectives of eager descents: $loss") {
    for {
      ((l1, l2), k) <- penalties.zipWithIndex
      scaled <- Seq(false, true)
      budget <- Seq(1L, 13L, 1000L)
    } {
      val c = new SgdCase(k + 20, loss, l1 = l1, l2 = l2, scaled = scaled)
      val candidates = Array(1e-4, 0.02, 0.1, 0.5)
      val r = c.search.copy(
        candidates = candidates,
        schedule = StepSchedule(kinds(k % 3), Double.NaN, 0.1),
        budget = budget,
        cursor = 50L,
        steps = 70L)
      val result = c.search(solver, r)
      val rows = c.data.partition.numRows
      val count = if (2L * budget <= rows) budget.toInt else rows / 2
      val (visited, _) = c.eager.visited(r.seed, 2L * count, r.cursor)
      val (forSteps, forLosses) = visited.take(2 * count).splitAt(count)
      val weightSum = forLosses.map(c.eager.weight).sum
      val expected = candidates.map { eta0 =>
        val model = c.eager.descend(c.model, forSteps, r.schedule.copy(eta0 = eta0), r.steps).model
        c.eager.lossSum(model, forLosses) / weightSum + c.eager.penalty(model)
      }
      close(candidates.indices.map(k => slot(result, SgdLayout.OBJECTIVES + k)).toArray, expected, c.toString)
      assert(math.abs(slot(result, SgdLayout.WEIGHT_SUM) - weightSum) < 1e-12 * weightSum)
      assert(math.abs(slot(result, SgdLayout.L1_NORM) - c.eager.l1Norm(c.model)) < 1e-12)
      assert(slot(result, SgdLayout.ROWS) == 2 * candidates.length * count)
      assert(slot(result, SgdLayout.CURSOR) == 50.0 && slot(result, SgdLayout.STEPS) == 70.0)
      (SgdLayout.OBJECTIVES + candidates.length until ResultHeader.FIRST_FREE).foreach(k =>
        assert(slot(result, k) == 0.0))
    }
  }

  test("a search: a candidate that diverges is infinite, the others are not; one row is enough") {
    val c = new SgdCase(8, Squared, rows = 300, l1 = 0.0, l2 = 0.0)
    val result = c.search(solver, c.search.copy(candidates = Array(0.01, 1e200, 0.02), budget = 100L))
    val found = (0 until 3).map(k => slot(result, SgdLayout.OBJECTIVES + k))
    assert(found(1) == Double.PositiveInfinity && Seq(found(0), found(2)).forall(v => v > 0.0 && v < 1e3))
    assert(slot(result, SgdLayout.DIVERGED) == 0.0)
    val one = SgdCase.dense(Seq(Seq(2.0)), Seq(3.0))
    val problem = SgdProblem(Squared, 0.0, 0.0, intercept = false, weightFactor = 1.0)
    val schedule = StepSchedule(StepSchedule.Constant, 1.0, 0.0)
    val small = new Array[Byte](ResultHeader.BYTES)
    solver.search(
      one,
      Search(nextFit(), 1L, problem, schedule, Array(0.125), 5L, 0L, 0L),
      new Array[Byte](16),
      small,
      Cancellation.NEVER)
    // w = 0.125 * 3 * 2, and half of the square of 3 - 2 w.
    assert(slot(small, SgdLayout.OBJECTIVES) == 1.125)
  }

  // ---- evaluation ----

  for (loss <- losses) test(s"an evaluation gives losses, and a gradient that is theirs: $loss") {
    for (weighted <- Seq(false, true); intercept <- Seq(false, true);
      values <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles)) {
      val c = new SgdCase(11, loss, weighted = weighted, values = values, intercept = intercept)
      val result = c.evaluate(solver, c.evaluation.copy(factor = 0.25))
      val rows = c.data.partition.numRows
      val gradient = SgdCase.vector(result)
      val derivatives =
        (0 until rows).map(i => c.eager.derivatives(c.eager.predictions(c.model, i), c.data.partition.labels(i)))
      close(gradient, c.eager.product((i, k) => derivatives(i)(k)).map(0.25 * _), c.toString)
      close(Array(slot(result, SgdLayout.LOSS_SUM)), Array(c.eager.lossSum(c.model)), c.toString)
      assert(slot(result, SgdLayout.ROWS) == rows && slot(result, SgdLayout.DIVERGED) == 0.0)
      assert(slot(result, ResultHeader.NONZEROS) == c.data.partition.nonzeros)
      val sums = loss match {
        case margin: MarginLoss if margin.labels == Labels.Signed =>
          Seq(1.0, -1.0).map(y =>
            (0 until rows)
              .filter(c.data.partition.labels(_) == y)
              .map(i => c.eager.weight(i) * -y * derivatives(i)(0))
              .sum)
        case _ => Seq(0.0, 0.0)
      }
      close(Array(slot(result, SgdLayout.POSITIVE_SUM), slot(result, SgdLayout.NEGATIVE_SUM)), sums.toArray, c.toString)
      // A random model is away from the corners of the hinge.
      val h = 1e-6
      gradient.indices.foreach { k =>
        val Seq(above, below) =
          Seq(h, -h).map(d => slot(c.evaluate(solver, at = c.model.updated(k, c.model(k) + d)), SgdLayout.LOSS_SUM))
        assert(math.abs(0.25 * (above - below) / (2.0 * h) - gradient(k)) <= FiniteDifference * rows, s"$c, entry $k")
      }
    }
  }

  /** Error of central differences at 1e-6, of sums of as many numbers of size one. */
  private val FiniteDifference = 1e-7

  for (loss <- losses)
    test(s"an evaluation with dual numbers gives conjugates and the product with the dual variables: $loss") {
      val c = new SgdCase(12, loss)
      val p = c.data.partition
      val random = new Random(5)
      val numbers = loss match {
        case Squared => Seq(Array(0.0), Array(0.375))
        case _: MarginLoss => Seq(Array(1.0, 1.0), Array(0.5, 1.0), Array(1.0, 0.0))
        case Softmax(classes) =>
          Seq(
            0.0 +: Array.fill(classes)(0.0),
            0.25 +: Array.fill(classes)(random.nextDouble()),
            1.0 +: Array.tabulate(classes)(k => if (k == 0) 1.0 else 0.0))
      }
      for (dual <- numbers) {
        val z = (0 until p.numRows).map(c.eager.predictions(c.model, _))
        def a(i: Int, k: Int): Double = loss match {
          case Squared => p.labels(i) - z(i)(0) - dual(0)
          case _: MarginLoss =>
            -c.eager.derivatives(z(i), p.labels(i))(0) * (if (p.labels(i) < 0.0) dual(0) else dual(1))
          case Softmax(_) =>
            (if (k == p.labels(i).toInt) 1.0 else 0.0) - (1.0 - dual(0)) * c.eager.probability(z(i), k) - dual(
              0) * dual(1 + k)
        }
        def conjugate(i: Int): Double = loss match {
          case margin: MarginLoss => margin.conjugate(a(i, 0), p.labels(i))
          case Softmax(classes) =>
            (0 until classes)
              .map(k => (if (k == p.labels(i).toInt) 1.0 else 0.0) - a(i, k))
              .filter(_ > 1e-15)
              .map(q => q * math.log(q))
              .sum
        }
        val result = c.evaluate(solver, c.evaluation.copy(factor = -2.0, dual = Some(dual)))
        close(SgdCase.vector(result), c.eager.product(a).map(-2.0 * _), c.toString)
        close(
          Array(slot(result, SgdLayout.LOSS_SUM)),
          Array((0 until p.numRows).map(i => c.eager.weight(i) * conjugate(i)).sum),
          c.toString)
      }
      // At the model's own dual variables, losses and conjugates add up to the product with the predictions.
      val own = loss match {
        case Squared => Array(0.0)
        case _: MarginLoss => Array(1.0, 1.0)
        case Softmax(classes) => new Array[Double](classes + 1)
      }
      val primal = slot(c.evaluate(solver), SgdLayout.LOSS_SUM)
      val dual = c.evaluate(solver, c.evaluation.copy(dual = Some(own)))
      val product = SgdCase.vector(dual).zip(c.model).map { case (u, w) => u * w }.sum
      close(Array(primal + slot(dual, SgdLayout.LOSS_SUM)), Array(-product), c.toString)
      assert(slot(c.evaluate(solver), SgdLayout.POSITIVE_SUM) == slot(dual, SgdLayout.POSITIVE_SUM))
    }

  test("an evaluation of numbers that are too large is no error") {
    val c = new SgdCase(9, Squared)
    for (dual <- Seq(None, Some(Array(0.0)))) {
      val result = c.evaluate(solver, c.evaluation.copy(dual = dual), c.model.updated(c.model.length - 1, 1e200))
      assert(slot(result, SgdLayout.DIVERGED) == 1.0 && slot(result, SgdLayout.LOSS_SUM) == Double.PositiveInfinity)
      assert(slot(result, SgdLayout.ROWS) == 0.0 && SgdCase.vector(result).forall(_ == 0.0))
    }
    val product = c.evaluate(solver, c.evaluation.copy(factor = 1e308))
    assert(slot(product, SgdLayout.DIVERGED) == 1.0 && SgdCase.vector(product).forall(_ == 0.0))
    assert(slot(product, SgdLayout.ROWS) == c.data.partition.numRows)
  }

  test("softmax of two classes is the logistic loss of the difference of its predictions") {
    val two = new SgdCase(13, Softmax(2))
    val p = two.data.partition
    val signed = two.data.copy(partition = SgdCase.withLabels(p, p.labels.map(y => 2.0 * y - 1.0)))
    val difference = two.model.grouped(2).map { case Array(a, b) => b - a }.toArray
    val logistic = SgdLayout.allocate(two.features, 1)
    val evaluation = two.evaluation.copy(problem = two.problem.copy(loss = Logistic))
    solver.evaluate(signed, evaluation, SgdCase.pack(difference), logistic, Cancellation.NEVER)
    val softmax = two.evaluate(solver)
    close(Array(slot(softmax, SgdLayout.LOSS_SUM)), Array(slot(logistic, SgdLayout.LOSS_SUM)), "loss")
    val gradient = SgdCase.vector(softmax).grouped(2).toArray
    close(gradient.map(_(1)), SgdCase.vector(logistic), "gradient")
    close(gradient.map(_(0)), SgdCase.vector(logistic).map(-_), "gradient")
  }

  // ---- protocol ----

  test("the same call gives the same bytes, and leaves its arguments alone") {
    for (loss <- losses; running <- Seq(false, true)) {
      val c = new SgdCase(14, loss)
      val shared = SgdCase.pack(c.model)
      def all(): Seq[Seq[Byte]] = {
        val descended, evaluated = c.newResult
        val searched = new Array[Byte](ResultHeader.BYTES)
        solver.descend(c.data, c.descent.copy(running = running), shared, descended, Cancellation.NEVER)
        solver.evaluate(c.data, c.evaluation, shared, evaluated, Cancellation.NEVER)
        solver.search(c.data, c.search, shared, searched, Cancellation.NEVER)
        Seq(descended, evaluated, searched).map(comparable)
      }
      assert(all() == all())
      assert(shared.toSeq == SgdCase.pack(c.model).toSeq)
    }
  }

  test("calls at the same time do not meet") {
    val cases = losses.map(new SgdCase(18, _))
    def all(c: SgdCase): Seq[Seq[Byte]] =
      Seq(c.descend(solver, c.descent.copy(running = true)), c.evaluate(solver), c.search(solver, c.search))
        .map(comparable)
    val alone = cases.map(all)
    val pool = Executors.newFixedThreadPool(cases.size)
    try {
      val tasks = cases.map(c => pool.submit((() => Seq.fill(20)(all(c))): Callable[Seq[Seq[Seq[Byte]]]]))
      tasks.zip(alone).foreach { case (task, expected) => assert(task.get().forall(_ == expected)) }
    } finally pool.shutdownNow()
  }

  test("slots behind the solver's belong to the caller, all others to the solver") {
    val c = new SgdCase(15, Hinge)
    val calls = Seq[Array[Byte] => Unit](
      solver.descend(c.data, c.descent, SgdCase.pack(c.model), _, Cancellation.NEVER),
      solver.evaluate(c.data, c.evaluation, SgdCase.pack(c.model), _, Cancellation.NEVER),
      result => {
        val short = result.take(ResultHeader.BYTES)
        solver.search(c.data, c.search, SgdCase.pack(c.model), short, Cancellation.NEVER)
        short.copyToArray(result)
        ()
      })
    calls.foreach { call =>
      val marked = c.newResult
      (0 until ResultHeader.SLOTS).foreach(ResultHeader.put(marked, _, -5.0))
      call(marked)
      (0 until ResultHeader.SLOTS).foreach { k =>
        assert((slot(marked, k) == -5.0) == (k >= ResultHeader.FIRST_FREE), s"slot $k")
      }
      assert(slot(marked, ResultHeader.SOLVER_NANOS) > 0.0)
    }
  }

  test("a cancelled call ends with an exception, another one with the callback's own") {
    val c = new SgdCase(16, Logistic)
    val calls = Seq[Cancellation => Unit](
      solver.descend(c.data, c.descent, SgdCase.pack(c.model), c.newResult, _),
      solver.evaluate(c.data, c.evaluation, SgdCase.pack(c.model), c.newResult, _),
      solver.search(c.data, c.search, SgdCase.pack(c.model), new Array[Byte](ResultHeader.BYTES), _))
    calls.foreach { call =>
      intercept[CancellationException](call(() => true))
      val mine = intercept[IllegalStateException](call(() => throw new IllegalStateException("from the callback")))
      assert(mine.getMessage == "from the callback")
    }
  }

  test("a long descent asks all the time whether it is cancelled, and ends in its middle") {
    val (rows, length) = (500, 20000)
    val features = Array.tabulate(rows * length)(_ % length)
    val random = new Random(3)
    val p = new RowPartition(
      0,
      length,
      Array.tabulate(rows)(_.toLong),
      Array.tabulate(rows + 1)(_ * length),
      features,
      null,
      null,
      Array.fill(rows)(random.nextGaussian()),
      null,
      Array.fill(rows)(length.toDouble),
      null)
    for ((l1, running) <- Seq((0.0, false), (1e-3, true))) {
      val problem = SgdProblem(Squared, l1, 0.1, intercept = true, weightFactor = 1.0)
      val schedule = StepSchedule(StepSchedule.Constant, 1e-9, 0.0)
      Questions.endInTheMiddle(features.length.toLong) { (passes, cancellation) =>
        solver.descend(
          RowData(p, null),
          Descend(nextFit(), 1L, problem, schedule, passes * rows, 0L, 0L, running, 1.0),
          new Array[Byte](8 * (length + 1)),
          SgdLayout.allocate(length, 1),
          cancellation)
      }
    }
  }

  test("bad arguments are refused, by name") {
    val c = new SgdCase(17, Hinge)
    def refused(name: String)(call: => Any): Unit = {
      val error = intercept[IllegalArgumentException](call)
      assert(error.getMessage.contains(name), error.getMessage)
    }
    def descent(name: String)(r: Descend): Unit = refused(name)(c.descend(solver, r))
    def schedule(name: String)(eta0: Double, rate: Double): Unit =
      descent(name)(c.descent.copy(schedule = StepSchedule(StepSchedule.Inverse, eta0, rate)))
    Seq(0.0, -1.0, Double.NaN, Double.PositiveInfinity).foreach(eta0 => schedule("eta0")(eta0, 0.1))
    Seq(-1.0, Double.NaN, Double.PositiveInfinity).foreach(rate => schedule("rate")(0.1, rate))
    descent("eta0")(c.descent.copy(schedule = StepSchedule(StepSchedule.Constant, 10.0, 0.0)))
    descent("budget")(c.descent.copy(budget = 0L))
    descent("cursor")(c.descent.copy(cursor = -1L))
    descent("steps")(c.descent.copy(steps = -1L))
    Seq(-0.5, 1.5, Double.NaN).foreach(share => descent("share")(c.descent.copy(share = share)))
    refused("shared")(c.descend(solver, from = c.model.tail))
    refused("shared")(c.descend(solver, from = c.model.updated(4, Double.NaN)))
    refused("result")(solver.descend(c.data, c.descent, SgdCase.pack(c.model), c.newResult.tail, Cancellation.NEVER))

    def problem(name: String)(problem: SgdProblem): Unit = {
      refused(name)(c.descend(solver, c.descent.copy(problem = problem)))
      refused(name)(c.evaluate(solver, c.evaluation.copy(problem = problem)))
      refused(name)(c.search(solver, c.search.copy(problem = problem)))
    }
    Seq(-1.0, Double.NaN, Double.PositiveInfinity).foreach(l1 => problem("l1")(c.problem.copy(l1 = l1)))
    Seq(-1.0, Double.NaN, Double.PositiveInfinity).foreach(l2 => problem("l2")(c.problem.copy(l2 = l2)))
    Seq(0.0, -1.0, Double.NaN).foreach(factor => problem("weight")(c.problem.copy(weightFactor = factor)))

    def data(name: String)(data: RowData): Unit = {
      refused(name)(solver.descend(data, c.descent, SgdCase.pack(c.model), c.newResult, Cancellation.NEVER))
      refused(name)(solver.evaluate(data, c.evaluation, SgdCase.pack(c.model), c.newResult, Cancellation.NEVER))
    }
    data("scale")(c.data.copy(scale = Array(1.0)))
    val p = c.data.partition
    data("label")(c.data.copy(partition = SgdCase.withLabels(p, p.labels.updated(3, 0.5))))
    data("labels")(c.data.copy(partition = SgdCase.withLabels(p, p.labels.tail)))
    val softmax = new SgdCase(17, Softmax(3))
    Seq(-1.0, 3.0, 0.5, Double.NaN).foreach { y =>
      val q = softmax.data.partition
      val bad = softmax.data.copy(partition = SgdCase.withLabels(q, q.labels.updated(3, y)))
      refused("label")(
        solver.evaluate(bad, softmax.evaluation, SgdCase.pack(softmax.model), softmax.newResult, Cancellation.NEVER))
    }
    refused("classes")(Softmax(1))

    def candidates(name: String)(candidates: Double*): Unit =
      refused(name)(c.search(solver, c.search.copy(candidates = candidates.toArray)))
    candidates("candidate")()
    candidates("candidate")(0.1, Double.NaN)
    candidates("candidate")(0.1, 0.0)
    candidates("candidate")(10.0)
    candidates("candidate")(Seq.fill(SgdLayout.MAX_CANDIDATES + 1)(0.1): _*)
    refused("budget")(c.search(solver, c.search.copy(budget = 0L)))
    refused("result")(solver.search(c.data, c.search, SgdCase.pack(c.model), c.newResult, Cancellation.NEVER))

    refused("factor")(c.evaluate(solver, c.evaluation.copy(factor = Double.NaN)))
    def dual(c: SgdCase)(numbers: Double*): Unit =
      refused("dual number")(c.evaluate(solver, c.evaluation.copy(dual = Some(numbers.toArray))))
    dual(c)(1.0)
    dual(c)(1.0, 1.5)
    dual(c)(-0.5, 1.0)
    dual(softmax)(0.5, 0.2, 0.3)
    dual(softmax)(0.5, 0.2, 0.3, Double.NaN)
    val squared = new SgdCase(17, Squared)
    dual(squared)()
    dual(squared)(Double.NaN)
  }
}

private[sgd] object SgdSolverTests {

  val losses: Seq[Loss] =
    Seq(Squared, Logistic, Hinge, SmoothedHinge(0.5), SquaredHinge, Softmax(2), Softmax(5))

  val penalties: Seq[(Double, Double)] = Seq((0.0, 0.0), (0.0, 0.1), (0.02, 0.0), (0.01, 0.1), (0.5, 0.05))

  val kinds: Seq[StepSchedule.Kind] = Seq(StepSchedule.Constant, StepSchedule.InverseSqrt, StepSchedule.Inverse)

  /** Error of sums in another order, relative to the greatest number; a descent is long enough for it to add up. */
  private val Tolerance = 1e-10

  /** A result without its time. */
  def comparable(result: Array[Byte]): Seq[Byte] = {
    val copy = result.clone()
    ResultHeader.put(copy, ResultHeader.SOLVER_NANOS, 0.0)
    copy.toSeq
  }

  def close(found: Array[Double], expected: Array[Double], about: String): Unit = {
    assert(found.length == expected.length, about)
    val size = 1.0 + expected.map(math.abs).maxOption.getOrElse(0.0)
    found.zip(expected).zipWithIndex.foreach { case ((a, b), k) =>
      assert(math.abs(a - b) <= Tolerance * size, s"$about, entry $k: $a, $b")
    }
  }
}
