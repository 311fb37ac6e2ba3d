package dwell.solver.lda

import dwell.LimitedSuite
import dwell.data.documents.DocumentData
import dwell.jni.{Cancellation, LdaLayout, ResultHeader}
import dwell.solver.TestProblem
import dwell.solver.lda.leader.LdaTask
import dwell.solver.lda.worker.{BoundCall, LdaBound, LdaCall, LdaMessage, LdaPriors, LdaProblem, LdaRound, LdaSchedule, LdaSolver, LdaStep, RoundCall}

/** The distribution of a round's documents to workers, and the work on each part. */
class LdaTaskSuite extends LimitedSuite {

  private val problem = LdaProblem(
    "lda",
    LdaPriors(Array(0.5, 0.5), 0.1),
    LdaSchedule(64.0, 0.51),
    fraction = 0.05,
    iterations = 3,
    localBatch = None,
    learnAlpha = true,
    aggregation = None,
    seed = 1L,
    settings = TestProblem.settings)

  private def plan(documents: Int*): LdaTask = LdaTask(problem, vocabulary = 3, documents.toArray)

  test("partitions visit their share of the documents, those without any none, and each other one at least") {
    assert(plan(300, 0, 100).budgets(40L).toSeq == Seq(30L, 0L, 10L))
    assert(plan(1000, 1).budgets(10L).toSeq == Seq(10L, 1L))
    assert(plan(300, 0, 100).workers == 2 && plan(300, 0, 100).corpus == 400L)
  }

  /** A task whose iterations are whole passes. */
  private def passes(documents: Int*): LdaTask =
    LdaTask(problem.copy(fraction = 1.0), vocabulary = 3, documents.toArray)

  test("the sample is of documents that there are, and small beside a round") {
    assert(plan(3, 0, 1).sample.toSeq == Seq(3, 0, 1))
    assert(plan(3000, 1000).sample.toSeq == Seq(12, 4), "16 at least")
    assert(passes(3000, 1000).sample.toSeq == Seq(75, 25), "a 40th of the round")
    assert(passes(30000, 10000).sample.toSeq == Seq(96, 32), "128 at most")
  }

  test("workers make a step on about a thousand documents together, and on no less than 125 each") {
    assert(passes(5000).batch == 1000 && passes(5000, 5000, 5000).batch == 334)
    assert(passes(Seq.fill(20)(5000): _*).batch == 125)
    assert(plan(5000).batch == 250, "an iteration has 250")
    assert(LdaTask(problem.copy(localBatch = Some(7)), 3, Array(5)).batch == 7)
  }

  test("a full step is one of 1000 documents, or of an iteration that has fewer") {
    assert(passes(30000).schedule == problem.schedule && plan(5000).schedule.base == 250.0)
    assert(math.abs(plan(5000).schedule.step(250.0, 125.0, 2.0) - math.pow(66.0, -0.51)) < 1e-12)
  }

  test("an iteration has its part of the documents, and one at least") {
    assert(plan(300, 100).pace.perIteration == 20L && plan(1).pace.perIteration == 1L)
  }

  /** A solver that writes the arguments of its call. */
  private object Recording extends LdaSolver {
    override def round(
        data: DocumentData,
        r: LdaRound,
        shared: Array[Byte],
        result: Array[Byte],
        cancellation: Cancellation): Unit = {
      ResultHeader.put(result, ResultHeader.SOLVER_NANOS, 5.0)
      ResultHeader.put(result, LdaLayout.BOUND, -10.0 * r.sample)
      ResultHeader.put(result, LdaLayout.BOUND_TOKENS, 1.5 * r.sample)
      ResultHeader.put(result, LdaLayout.CURSOR, (r.cursor + r.budget).toDouble)
      ResultHeader.put(result, LdaLayout.FACTORS, 2.0)
      ResultHeader.put(result, LdaLayout.FACTOR, 0.5)
      ResultHeader.put(result, LdaLayout.FACTOR + 1, r.share)
      val numbers = ResultHeader.vector(result)
      (0 until numbers.limit()).foreach(i => numbers.put(i, i.toDouble))
    }

    override def bound(
        data: DocumentData,
        r: LdaBound,
        shared: Array[Byte],
        result: Array[Byte],
        cancellation: Cancellation): Unit = {
      ResultHeader.put(result, ResultHeader.SOLVER_NANOS, 2.0)
      ResultHeader.put(result, LdaLayout.BOUND, -10.0 * (r.last - r.first))
      ResultHeader.put(result, LdaLayout.BOUND_TOKENS, 3.0)
    }
  }

  private def documents(index: Int, count: Int): DocumentData =
    DocumentData(
      index,
      3,
      Array(Array.tabulate(count + 1)(identity)),
      Array(new Array[Int](count)),
      Array(null),
      Array(null))

  private def step(data: DocumentData, learnAlpha: Boolean) = {
    val common = LdaRound(
      1L,
      1L,
      problem.priors,
      problem.inference,
      problem.schedule,
      corpus = 4L,
      workers = 2,
      batch = 1,
      budget = 0L,
      cursor = 0L,
      seen = 0L,
      concentration = learnAlpha,
      share = 0.0,
      sample = 0,
      threads = 1)
    asked(data, RoundCall(common, budgets = Array(3L, 0L, 1L), cursors = Array(6L, 0L, 2L), sample = Array(2, 0, 0)))
  }

  private def asked(data: DocumentData, call: LdaCall) = {
    val message = LdaMessage(1L, problem.priors, problem.inference, threads = 1, call)
    LdaStep.by(Recording, data, message, new Array[Byte](24), () => false)
  }

  test("a worker visits its part, and sends topics, the factors of words it has not seen, sums and its bound") {
    val made = step(documents(0, 3), learnAlpha = true)
    assert(ResultHeader.get(made.update, LdaLayout.CURSOR) == 9.0)
    assert(ResultHeader.get(made.update, ResultHeader.SOLVER_NANOS) == 5.0)
    assert(made.factors.toSeq == Seq(0.5, 0.75))
    assert(made.scalars.logThetaSums.toSeq == Seq(3.0, 4.0))
    assert((made.scalars.bound, made.scalars.tokens) == ((-20.0, 3.0)))
  }

  test("a worker that is in no sample has no bound, and sums that are not asked for are not there") {
    val made = step(documents(2, 1), learnAlpha = false)
    assert(made.factors.toSeq == Seq(0.5, 0.25) && made.update.length == ResultHeader.length(3))
    assert(made.scalars.logThetaSums.isEmpty && made.scalars.tokens == 0.0)
  }

  test("the bound is asked for of the sample alone") {
    val made = asked(documents(0, 3), BoundCall(Array(2, 0, 0)))
    assert(made.update.length == ResultHeader.BYTES && made.factors.isEmpty && made.scalars.logThetaSums.isEmpty)
    assert((made.scalars.bound, made.scalars.tokens) == ((-20.0, 3.0)))
    val none = asked(documents(2, 1), BoundCall(Array(2, 0, 0)))
    assert((none.scalars.bound, none.scalars.tokens) == ((0.0, 0.0)))
  }

  test("a worker without documents has nothing to add") {
    val made = step(documents(1, 0), learnAlpha = true)
    assert(made.update.length == ResultHeader.BYTES && made.factors.isEmpty && made.scalars.logThetaSums.isEmpty)
  }
}
