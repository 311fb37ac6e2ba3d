package dwell.solver.rows

import java.io.Serializable

import scala.collection.mutable
import scala.util.{Random, Using}

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.storage.RDDBlockId

import dwell.base.LittleEndian
import dwell.comm.{Gathered, GeneratedModel, ModelLostException, Recovered, Replicas, Replies}
import dwell.comm.jobs.ShuffleMode
import dwell.data.block.LabeledRow
import dwell.data.{RowData, TrainingReader, TrainingRows}
import dwell.data.rows.{BlockArrays, RowForm}
import dwell.fit.{Aggregation, Attempt}
import dwell.jni.{Cancellation, ResultHeader, SgdLayout}
import dwell.problem.{Algorithm, Labels, Penalty, Squared, StepSchedule}
import dwell.record.RoundRecord
import dwell.solver.cd.LocalProblem.nextFit
import dwell.solver.linear.{LinearProblem, LinearSolution}
import dwell.solver.{LinearTrainer, TestProblem}
import dwell.solver.rows.leader.{AveragingPlan, PartitionFacts, RowStatistics, RowTask}
import dwell.solver.pass.{PassMessage, PassSums}
import dwell.solver.rows.worker.{Descend, DescendCall, NativeSgd, PassCall, SearchCall, SgdMessage, RowObjective, SgdStep}
import dwell.SparkSuite

/** The rounds of model averaging against the definition: local SGD from the average, and the average of the models
 * that it reaches. */
class ModelAveragingSuite extends SparkSuite {
  import ModelAveragingSuite._

  private val form = RowForm(0.0, intercept = true, labels = Labels.Real, mixed = true)

  private def read(): TrainingRows =
    TrainingReader.read(sc.parallelize(0 until Rows, 2).map(row(_).toInternal), Features, "averaging")

  private def problem(rounds: Int, workers: Int, stepSize: Option[Double], threads: Int = 1): LinearProblem =
    TestProblem.linear.copy(
      algorithm = Some(Algorithm.ModelAveraging),
      penalty = Penalty(l1 = 0.01, l2 = L2),
      tolerance = 0.0,
      maxRounds = rounds,
      localWork = Some(1.0),
      numWorkers = workers,
      aggregation = Some(Aggregation.Driver),
      seed = Seed,
      settings = TestProblem.settings.copy(threads = threads),
      stepSize = stepSize)

  private def solve(
      rows: TrainingRows,
      workers: Int,
      rounds: Int,
      threads: Int = 1,
      stepSize: Option[Double] = Some(Eta)): LinearSolution =
    Using.resource(new LinearTrainer(rows))(_.solve(problem(rounds, workers, stepSize, threads)))

  /**
   * The expected model, by the definition.
   *
   * @param again
   *   round whose model was found after a loss: the positions of its workers are unknown
   */
  private def expected(
      rows: TrainingRows,
      workers: Int,
      rounds: Int,
      again: Option[Int] = None,
      threads: Int = 1): Array[Double] = {
    val parts = partsOf(rows, workers)
    val problem = RowObjective(Squared, Penalty(0.01, L2), intercept = true, rows.numRows / rows.totalWeight)
    val weights = parts.map(_.blocks.flatMap(_.weights).sum)
    var model = new Array[Double](Features + 1)
    model(Features) = rows.labelMean
    var places = Array.fill(workers)((0L, 0L))
    for (round <- 1 to rounds) {
      val before = places.clone()
      val next = new Array[Double](model.length)
      parts.zipWithIndex.foreach { case (part, k) =>
        val result = SgdLayout.allocate(Features, 1)
        val r = Descend(
          Seed,
          problem,
          StepSchedule(StepSchedule.Inverse, Eta, L2),
          part.coordinates.toLong,
          places(k)._1,
          places(k)._2,
          share = 1.0,
          threads)
        NativeSgd.descend(part, r, LittleEndian.bytes(model), result, Cancellation.NEVER)
        places(k) =
          (ResultHeader.get(result, SgdLayout.CURSOR).toLong, ResultHeader.get(result, SgdLayout.STEPS).toLong)
        val reached = ResultHeader.vector(result)
        next.indices.foreach(j => next(j) += weights(k) / rows.totalWeight * reached.get(j))
      }
      model = next
      if (again.contains(round)) places = before
    }
    model
  }

  private def partsOf(rows: TrainingRows, workers: Int): Array[RowData] =
    rows.scaled(workers, form).partitions.collect().map { case part: RowData => part; case other => fail(s"$other") }

  private def close(found: Array[Double], wanted: Array[Double]): Unit =
    found.zip(wanted).foreach { case (a, b) => assert(math.abs(a - b) <= 1e-12 * (1.0 + math.abs(b))) }

  /** The same fit led from this test, with workers that lose models. */
  private final class Lossy(stepSize: Option[Double], rounds: Int)(lose: (String, Int) => Loss) {
    private val workers = 2
    private val rows = read()
    private val data = rows.scaled(workers, form)
    private val facts = RowStatistics.of(rows, rows.features(0.0, intercept = true), rows.labelFacts(Labels.Real))
    private val plan = {
      val task = RowTask(problem(rounds, workers, stepSize), Features, facts)
      AveragingPlan(nextFit(), task, PartitionFacts.of(rows, data.summary))
    }
    private val replicas =
      new LosingReplicas(new ShuffleMode(data.partitions, plan.id, plan.format)(SgdStep(_, _, _)), plan.id, lose)

    /** How often this method was called. */
    def asked(what: String): Int = replicas.asked(what)

    /** Records in the order of their reports. */
    val told = mutable.ArrayBuffer.empty[RoundRecord]

    def lead(attempt: Attempt = Attempt.first): LinearSolution = plan.lead(replicas, attempt)(told += _)

    def expected(again: Option[Int] = None): Array[Double] =
      ModelAveragingSuite.this.expected(rows, workers, rounds, again)

    def close(): Unit = {
      replicas.release()
      rows.unpersist()
    }
  }

  private def lossy(stepSize: Option[Double] = Some(Eta), rounds: Int = 5)(lose: PartialFunction[(String, Int), Loss])(
      check: Lossy => Unit): Unit = {
    val fit = new Lossy(stepSize, rounds)((what, n) => lose.applyOrElse((what, n), (_: (String, Int)) => NoLoss))
    try check(fit)
    finally fit.close()
  }

  private def model(trained: LinearSolution): Array[Double] = trained.coefficients ++ trained.intercepts

  private def numbers(records: collection.Seq[RoundRecord]): Seq[Int] = records.map(_.round).toSeq

  for ((workers, threads) <- Seq((1, 1), (2, 1), (3, 1), (2, 2))) {
    test(
      s"$workers workers, $threads threads: the average, weighted by rows, of local descents from the last average") {
      for (rounds <- Seq(1, 4)) {
        val wanted = expected(read(), workers, rounds, threads = threads)
        val solution = solve(read(), workers, rounds, threads)
        assert(solution.facts.rounds.size == rounds + 1)
        val found = solution.coefficients ++ solution.intercepts
        close(found, wanted)
        if (workers == 1) assert(found.sameElements(wanted), "one worker is plain SGD to the bit")
      }
    }
  }

  test("two threads of a worker reach the objective of one") {
    val Seq(one, two) = Seq(1, 2).map { threads =>
      solve(read(), workers = 2, rounds = 60, threads, stepSize = None).facts.objective
    }
    assert(math.abs(two - one) <= SameObjective * one, s"$two, by one thread $one")
  }

  test("a model that is lost costs its round: the rounds go on from the one before") {
    lossy() { case ("allReduce", 4) => Newest } { fit =>
      val trained = fit.lead()
      close(model(trained), fit.expected(again = Some(2)))
      assert(numbers(fit.told) == Seq(1, 2, 3, 3, 4, 5), "the third was made again")
      assert(numbers(trained.facts.rounds) == (0 to 5))
      assert(trained.facts.rounds(3) eq fit.told(3), "the report has what led to the model")
    }
  }

  test("a last model that is lost before it is collected is made again") {
    lossy() { case ("collect", 1) => Newest } { fit =>
      close(model(fit.lead()), fit.expected(again = Some(4)))
      assert(numbers(fit.told) == Seq(1, 2, 3, 4, 5, 5))
    }
  }

  test("where all models are lost the rounds begin again, and are the same") {
    lossy() { case ("allReduce", 4) => All } { fit =>
      val trained = fit.lead()
      close(model(trained), fit.expected())
      assert(numbers(fit.told) == Seq(1, 2, 3, 1, 2, 3, 4, 5) && numbers(trained.facts.rounds) == (0 to 5))
    }
  }

  test("a search for the first step that loses its model is made again, and no other one is") {
    var undisturbed = Array.empty[Double]
    lossy(stepSize = None)(PartialFunction.empty) { fit =>
      undisturbed = model(fit.lead())
      assert(fit.asked("ask") == 1)
    }
    lossy(stepSize = None) {
      case ("ask", 1) => All
      case ("allReduce", 3) => All
    } { fit =>
      assert(model(fit.lead()).sameElements(undisturbed) && fit.asked("ask") == 2)
    }
  }

  test("a fit whose models stay nowhere ends with what was lost") {
    lossy() { case ("allReduce", n) if n >= 3 => All } { fit =>
      assert(intercept[ModelLostException](fit.lead()).getMessage.contains("gone with the executors"))
      assert(numbers(fit.told) == Seq(1, 2) && fit.asked("allReduce") == 8)
    }
  }

  test("losses between which there are rounds may be as many as they like") {
    // Each of the seven losses costs a failed call and a repeated round.
    lossy(rounds = 12) { case ("allReduce", n) if n % 3 == 0 && n <= 21 => Newest } { fit =>
      assert(numbers(fit.lead().facts.rounds) == (0 to 12) && fit.asked("allReduce") == 12 + 7 + 7)
    }
  }

  test("a later attempt goes on with the rounds of those before it, and they count") {
    lossy() { case ("allReduce", 4) => Breakdown } { fit =>
      intercept[IllegalStateException](fit.lead())
      val earlier = fit.told.toSeq
      assert(numbers(earlier) == Seq(1, 2, 3))
      // It had reported a fourth round, whose model is lost.
      val lost = earlier.last.copy(round = 4)
      val trained = fit.lead(Attempt(1, earlier :+ lost, seconds = 100.0))
      close(model(trained), fit.expected(again = Some(3)))
      assert(numbers(trained.facts.rounds) == (0 to 5))
      assert(trained.facts.rounds.slice(1, 4) == earlier)
      assert(trained.facts.rounds.drop(4).forall(r => r.elapsed > 100.0 && r.elapsed < 200.0))
      assert(trained.facts.rounds.drop(4).forall(_.workers.forall(w => w.start > 100.0 && w.start < 200.0)))
    }
  }

  test(
    "a contribution of one thread's descent says what became of the coefficients that no row has; no other one says anything") {
    val random = new Random(4)
    // Features 3 and 4 are in no row.
    val block = BlockArrays(
      Array.tabulate(21)(3 * _),
      Array.tabulate(60)(_ % 3),
      null,
      Array.fill(60)(random.nextGaussian()),
      Array.fill(20)(1.0),
      null)
    val data = RowData(0, 5, Array(block), null, null, isClassified = false)
    val shared = Array(0.1, -0.2, 0.3, -0.4, 0.5, 0.6)
    val problem = RowObjective(Squared, Penalty(0.0, 0.1), intercept = true, 1.0)
    val schedule = StepSchedule(StepSchedule.InverseSqrt, Eta, 0.0)
    val descent = DescendCall(schedule, 1.0, Array(0L), Array(0L), Array(0.25), threads = 1)
    val pass = PassMessage(
      Squared,
      intercept = true,
      features = 5,
      centre = Array.emptyDoubleArray,
      entries = 6,
      PassSums.Gradient,
      threads = 1)
    val calls = Seq(descent, descent.copy(threads = 2), SearchCall(schedule, Array(Eta), 5L), PassCall(pass))
    val Seq(known, none @ _*) = sc
      .parallelize(calls, 1)
      .map { call =>
        val c = SgdStep(data, SgdMessage(Seed, problem, call), LittleEndian.bytes(shared))
        (c.factors.toSeq, c.update)
      }
      .collect()
      .toSeq
    val (factors, update) = known
    assert(factors.size == 2 && factors.last == 0.25)
    val vector = ResultHeader.vector(update)
    for (j <- 0 until 5) assert((vector.get(j) == factors.foldLeft(shared(j))(_ * _)) == (j >= 3), s"feature $j")
    assert(none.size == 3 && none.forall(_._1.isEmpty))
  }

  test("the objective that is returned is that of the model, exactly") {
    val solution = solve(read(), 2, 3)
    val w = solution.coefficients
    val losses = (0 until Rows).map(row).map { r =>
      val error = r.features.toArray.zip(w).map { case (x, w) => x * w }.sum + solution.intercepts(0) - r.label
      (r.weight, r.weight * error * error / 2.0)
    }
    val penalty = w.map(x => 0.01 * math.abs(x) + L2 / 2.0 * x * x).sum
    val objective = losses.map(_._2).sum / losses.map(_._1).sum + penalty
    assert(math.abs(solution.facts.objective - objective) <= 1e-12 * objective)
    assert(solution.facts.dual <= solution.facts.objective)
  }
}

object ModelAveragingSuite {
  private val Rows = 101
  private val Features = 7
  private val Seed = 3L
  private val Eta = 0.005

  /** Steps fall with the rows visited, by the L2 penalty, so that wrongly counted rows show. */
  private val L2 = 0.1

  /** How far the objectives of two and four averaged models may be apart, relative to them: the noise of their last steps differs. */
  private val SameObjective = 0.01

  private def row(j: Int): LabeledRow = {
    val random = new Random(j)
    val x = Array.fill(Features)(if (random.nextInt(3) == 0) 0.0 else random.nextGaussian())
    LabeledRow(x.sum + random.nextGaussian(), 0.5 + random.nextInt(3), Vectors.dense(x).compressed)
  }

  /** The loss before an exchange: nothing, the newest model, all models, or the leader. */
  private sealed trait Loss
  private case object NoLoss extends Loss
  private case object Newest extends Loss
  private case object All extends Loss

  /** The leader breaks down. */
  private case object Breakdown extends Loss

  /**
   * Workers whose blocks of models are lost.
   *
   * @param lose
   *   the loss before an exchange, by the name of the method and the number of its calls
   */
  private final class LosingReplicas(workers: Replicas[SgdMessage, Unit], fit: Long, lose: (String, Int) => Loss)
      extends Replicas[SgdMessage, Unit] {
    private val calls = mutable.Map.empty[String, Int].withDefaultValue(0)

    def asked(what: String): Int = calls(what)

    private def call(what: String): Unit = {
      calls(what) += 1
      lose(what, calls(what)) match {
        case NoLoss =>
        case Newest => models.sortBy(_._1).lastOption.foreach { case (_, model) => drop(model) }
        case All => models.foreach { case (_, model) => drop(model) }
        case Breakdown => throw new IllegalStateException("broken down")
      }
    }

    /** Versions of the models, and ids of their RDDs. */
    private def models: Seq[(Long, Int)] = {
      val Name = s"dwell: model (\\d+) of fit $fit".r
      SparkContext
        .getOrCreate()
        .getPersistentRDDs
        .toSeq
        .collect { case (id, rdd) =>
          Option(rdd.name).collect { case Name(version) => (version.toLong, id) }
        }
        .flatten
    }

    private def drop(model: Int): Unit = SparkEnv.get.blockManager.removeBlock(RDDBlockId(model, 0))

    override def exchange(m: SgdMessage, shared: Array[Byte], what: String): Gathered[Unit] =
      workers.exchange(m, shared, what)

    override def distribute(version: Long, model: Array[Byte], note: Option[Serializable], what: String): Unit =
      workers.distribute(version, model, note, what)

    override def begin(version: Long, origin: GeneratedModel, what: String): Unit = workers.begin(version, origin, what)

    override def allReduce(
        m: SgdMessage,
        from: Long,
        to: Long,
        kept: Set[Long],
        note: Option[Serializable],
        what: String): Replies[Unit] = {
      call("allReduce")
      workers.allReduce(m, from, to, kept, note, what)
    }

    override def ask(m: SgdMessage, from: Long, what: String): Replies[Unit] = {
      call("ask")
      workers.ask(m, from, what)
    }

    override def collect(version: Long, what: String): Array[Byte] = {
      call("collect")
      workers.collect(version, what)
    }

    override def recover(what: String): Option[Recovered] = workers.recover(what)

    override def release(): Unit = workers.release()
  }
}
