package dwell.solver.rows

import java.util.concurrent.{Callable, CancellationException, Executors}

import scala.util.Random

import dwell.data.RowData
import dwell.data.rows.BlockArrays
import dwell.data.TestData.Values
import dwell.jni.{Cancellation, PassLayout, ResultHeader, SgdLayout}
import dwell.LimitedSuite
import dwell.problem.{DualFormulas, Hinge, Labels, Logistic, RowLoss, MarginLoss, Penalty, SmoothedHinge, Softmax, Squared, SquaredHinge, StepSchedule}
import dwell.solver.cd.LocalProblem.comparable
import dwell.solver.Questions
import dwell.solver.rows.worker.{Descend, NativeSgd, RowObjective}
import dwell.spark.NativeLibrary

/** Calls of stochastic gradient descent beside eager steps on dense data. */
class NativeSgdSuite extends LimitedSuite {
  NativeLibrary.require()

  private val losses: Seq[RowLoss] =
    Seq(Squared, Logistic, Hinge, SmoothedHinge(0.5), SquaredHinge, Softmax(2), Softmax(5))

  private val penalties: Seq[(Double, Double)] = Seq((0.0, 0.0), (0.0, 0.1), (0.02, 0.0), (0.01, 0.1), (0.5, 0.05))

  private val kinds: Seq[StepSchedule.Kind] = Seq(StepSchedule.InverseSqrt, StepSchedule.Inverse)

  /** Error of sums in another order, relative to the greatest number; a descent is long enough for it to add up. */
  private val Tolerance = 1e-10

  private def slot(result: Array[Byte], index: Int): Double = ResultHeader.get(result, index)

  private def close(found: Array[Double], expected: Array[Double], about: String): Unit = {
    assert(found.length == expected.length, about)
    val size = 1.0 + expected.map(math.abs).maxOption.getOrElse(0.0)
    found.zip(expected).zipWithIndex.foreach { case ((a, b), k) =>
      assert(math.abs(a - b) <= Tolerance * size, s"$about, entry $k: $a, $b")
    }
  }

  for (loss <- losses) {
    test(s"descent is that of eager steps on dense data: $loss") {
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
        val schedule = StepSchedule(kinds(k % 2), 0.05, 0.1)
        compareWithEager(c, c.descent.copy(schedule = schedule, budget = 150L, cursor = 7L, steps = 9L, share = 0.25))
      }
    }
  }

  private def compareWithEager(c: SgdCase, r: Descend): Unit = {
    val result = c.descend(r)
    val (rows, cursor) = c.eager.visited(r.seed, r.budget, r.cursor)
    val expected = c.eager.descend(c.model, rows, r.schedule, r.steps)
    close(SgdCase.vector(result), expected.model.map(r.share * _), c.toString)
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

  test("at its corner the hinge has no derivative, and nothing but decay happens") {
    val problem = RowObjective(Hinge, Penalty(0.0, 0.5), intercept = true, weightFactor = 1.0)
    val data = SgdCase.dense(Seq(Seq(1.0, 1.0)), Seq(1.0))
    val result = SgdLayout.allocate(2, 1)
    val schedule = StepSchedule(StepSchedule.InverseSqrt, 0.5, 0.0)
    val r = Descend(1L, problem, schedule, 1L, 0L, 0L, 1.0)
    NativeSgd.descend(data, r, SgdCase.pack(Array(0.25, 0.25, 0.5)), result, Cancellation.NEVER)
    assert(SgdCase.vector(result).toSeq == Seq(0.1875, 0.1875, 0.5))
  }

  for (loss <- losses) test(s"a search finds the objectives of eager descents: $loss") {
    for {
      ((l1, l2), k) <- penalties.zipWithIndex
      scaled <- Seq(false, true)
      budget <- Seq(1L, 13L, 1000L)
    } {
      val c = new SgdCase(k + 20, loss, l1 = l1, l2 = l2, scaled = scaled)
      val candidates = Array(1e-4, 0.02, 0.1, 0.5)
      val r = c.searching.copy(
        candidates = candidates,
        schedule = StepSchedule(kinds(k % 2), Double.NaN, 0.1),
        budget = budget,
        cursor = 50L,
        steps = 70L)
      val result = c.search(r)
      val rows = c.data.coordinates
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

  for (loss <- losses) test(s"an evaluation gives losses, and a gradient that is theirs: $loss") {
    for (weighted <- Seq(false, true); intercept <- Seq(false, true);
      values <- Seq[Values](Values.Ones, Values.Singles, Values.Doubles)) {
      val c = new SgdCase(11, loss, weighted = weighted, values = values, intercept = intercept)
      val (result, gradient) = c.evaluate()
      val rows = c.data.coordinates
      val derivatives =
        (0 until rows).map(i => c.eager.derivatives(c.eager.predictions(c.model, i), c.eager.labels(i)))
      close(gradient, c.eager.product((i, k) => derivatives(i)(k)), c.toString)
      close(Array(slot(result, PassLayout.LOSS_SUM)), Array(c.eager.lossSum(c.model)), c.toString)
      assert(slot(result, PassLayout.ROWS) == rows)
      assert(slot(result, ResultHeader.NONZEROS) == c.data.nonzeros)
      val sums = loss match {
        case margin: MarginLoss if margin.labels == Labels.Signed =>
          Seq(-1.0, 1.0).map(y =>
            (0 until rows)
              .filter(c.eager.labels(_) == y)
              .map(i => c.eager.weight(i) * math.abs(derivatives(i)(0)))
              .sum)
        case _ => Seq(0.0, 0.0)
      }
      close(Array(0, 1).map(k => slot(result, PassLayout.SLOPES + k)), sums.toArray, c.toString)
    }
  }

  for (loss <- losses)
    test(s"an evaluation with dual numbers gives conjugates and the product with the dual variables: $loss") {
      val c = new SgdCase(12, loss)
      val labels = c.eager.labels
      val random = new Random(5)
      val numbers = loss match {
        case Squared => Seq(Array(0.0), Array(0.375))
        case _: MarginLoss => Seq(Array(1.0, 1.0), Array(0.5, 1.0), Array(1.0, 0.0))
        case Softmax(classes) =>
          Seq(
            0.0 +: Array.fill(classes)(0.0) :+ 1.0,
            0.25 +: Array.fill(classes)(random.nextDouble()) :+ 0.5,
            1.0 +: Array.tabulate(classes)(k => if (k == 0) 1.0 else 0.0) :+ 1.0)
      }
      for (dual <- numbers) {
        val z = (0 until labels.length).map(c.eager.predictions(c.model, _))
        def a(i: Int, k: Int): Double = loss match {
          case Squared => labels(i) - z(i)(0) - dual(0)
          case _: MarginLoss =>
            -c.eager.derivatives(z(i), labels(i))(0) * (if (labels(i) < 0.0) dual(0) else dual(1))
          case Softmax(_) =>
            val mixed = (1.0 - dual(0)) * c.eager.probability(z(i), k) + dual(0) * dual(1 + k)
            dual.last * ((if (k == labels(i).toInt) 1.0 else 0.0) - mixed)
        }
        def conjugate(i: Int): Double = loss match {
          case margin: MarginLoss => DualFormulas.conjugate(margin, a(i, 0), labels(i))
          case Softmax(classes) =>
            (0 until classes)
              .map(k => (if (k == labels(i).toInt) 1.0 else 0.0) - a(i, k))
              .filter(_ > 1e-15)
              .map(q => q * math.log(q))
              .sum
        }
        val (result, vector) = c.evaluate(dual.toSeq: _*)
        close(vector, c.eager.product(a), c.toString)
        close(
          Array(slot(result, PassLayout.LOSS_SUM)),
          Array((0 until labels.length).map(i => c.eager.weight(i) * conjugate(i)).sum),
          c.toString)
      }
      // At the model's own dual variables, losses and conjugates add up to the product with the predictions.
      val own = loss match {
        case Squared => Array(0.0)
        case _: MarginLoss => Array(1.0, 1.0)
        case Softmax(classes) => new Array[Double](classes + 1) :+ 1.0
      }
      val primal = slot(c.evaluate()._1, PassLayout.LOSS_SUM)
      val (dual, vector) = c.evaluate(own.toSeq: _*)
      // Without an intercept the model has 0 there.
      val product = vector.zip(c.model).map { case (u, w) => u * w }.sum
      close(Array(primal + slot(dual, PassLayout.LOSS_SUM)), Array(-product), c.toString)
    }

  test("calls give the same bytes, one after the other and at the same time, and leave the model alone") {
    val cases = losses.map(new SgdCase(18, _))
    def all(c: SgdCase): Seq[Seq[Byte]] = {
      val shared = SgdCase.pack(c.model)
      val results = Seq(c.descend(shared = shared))
      val searched = c.search(shared = shared)
      assert(shared.sameElements(SgdCase.pack(c.model)))
      (results :+ searched).map(comparable)
    }
    val alone = cases.map(all)
    val pool = Executors.newFixedThreadPool(cases.size)
    try {
      val tasks = cases.map(c => pool.submit((() => Seq.fill(20)(all(c))): Callable[Seq[Seq[Seq[Byte]]]]))
      tasks.zip(alone).foreach { case (task, expected) => assert(task.get().forall(_ == expected)) }
    } finally pool.shutdownNow()
  }

  test("classes 0 and 1 are labels -1 and 1, and blocks of any size are the same rows") {
    for (loss <- losses; c = new SgdCase(19, loss)) {
      val signed = loss match {
        case margin: MarginLoss => margin.labels == Labels.Signed
        case Softmax(_) => false
      }
      val data = if (signed) SgdCase.withLabels(c.data, y => (y + 1.0) / 2.0).copy(isClassified = true) else c.data
      val block = data.blocks.head
      val empty = BlockArrays(Array(0), Array.emptyIntArray, null, null, Array.emptyDoubleArray, null)
      def rows(from: Int, until: Int): BlockArrays = {
        val entries = (block.offsets(from), block.offsets(until))
        BlockArrays(
          block.offsets.slice(from, until + 1).map(_ - entries._1),
          block.features.slice(entries._1, entries._2),
          null,
          block.values64.slice(entries._1, entries._2),
          block.labels.slice(from, until),
          block.weights.slice(from, until))
      }
      val cut = data.copy(blocks = Array(rows(0, 3), empty, rows(3, block.rows)) ++ data.blocks.tail)
      for (other <- Seq(data, cut)) {
        val (descended, searched) = (c.newResult, new Array[Byte](ResultHeader.BYTES))
        NativeSgd.descend(other, c.descent, SgdCase.pack(c.model), descended, Cancellation.NEVER)
        NativeSgd.search(other, c.searching, SgdCase.pack(c.model), searched, Cancellation.NEVER)
        assert(comparable(descended) == comparable(c.descend()) && comparable(searched) == comparable(c.search()))
      }
    }
  }

  test("a cancelled call ends with an exception, another one with the callback's own") {
    val c = new SgdCase(16, Logistic)
    val shared = SgdCase.pack(c.model)
    val calls = Seq[Cancellation => Unit](
      NativeSgd.descend(c.data, c.descent, shared, c.newResult, _),
      NativeSgd.search(c.data, c.searching, shared, new Array[Byte](ResultHeader.BYTES), _))
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
    val block = BlockArrays(
      Array.tabulate(rows + 1)(_ * length),
      features,
      null,
      null,
      Array.fill(rows)(random.nextGaussian()),
      null)
    for (l1 <- Seq(0.0, 1e-3)) {
      val problem = RowObjective(Squared, Penalty(l1, 0.1), intercept = true, weightFactor = 1.0)
      val schedule = StepSchedule(StepSchedule.InverseSqrt, 1e-9, 0.0)
      Questions.endInTheMiddle { (passes, cancellation) =>
        NativeSgd.descend(
          RowData(0, length, Array(block), null, null, isClassified = false),
          Descend(1L, problem, schedule, passes * rows, 0L, 0L, 1.0),
          new Array[Byte](8 * (length + 1)),
          SgdLayout.allocate(length, 1),
          cancellation)
      }
    }
  }
}
