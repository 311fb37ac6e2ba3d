package dwell.solver.rows

import java.util.concurrent.atomic.AtomicInteger

import scala.util.{Random, Using}

import org.apache.spark.ml.linalg.Vectors
import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

import dwell.{LimitedSuite, SparkSuite}
import dwell.comm.{Workers => AllWorkers}
import dwell.comm.wire.Contribution
import dwell.data.TrainingReader
import dwell.data.block.LabeledRow
import dwell.data.rows.BlockData
import dwell.fit.Aggregation
import dwell.jni.NativeBridge
import dwell.problem.{Algorithm, Hinge, Logistic, Loss, Penalty, Softmax, Squared}
import dwell.solver.{LinearTrainer, TestProblem}
import dwell.solver.linear.LinearSolution
import dwell.solver.pass.{PassMessage, PassStep}

/** L-BFGS whose workers have the vectors, beside a leader that has them, in a session of the suite's own with slots for the workers. */
class SharedSearchSuite extends LimitedSuite with BeforeAndAfterAll {
  import SharedSearchSuite._

  private lazy val spark: SparkSession = SparkSuite.fresh(master = s"local[$Workers]")

  override def afterAll(): Unit = spark.stop()

  private def solution(
      loss: Loss,
      penalty: Penalty,
      intercept: Boolean,
      mode: Aggregation,
      proven: Boolean = false,
      failing: Boolean = false): LinearSolution = {
    val n = if (loss.outputs == 1) 300000 else 100001
    val classes = math.max(2, loss.outputs)
    val rows = spark.sparkContext.parallelize(0 until 90, Workers).map { i =>
      val random = new Random(i)
      // Some features in each block, of different sizes.
      val features = Seq.fill(30)(random.nextInt(400)).distinct.sorted
      val values = features.map(j => random.nextGaussian() * (1 + j % 7))
      val x = Vectors.sparse(n, features.map(_ * (n / 400)).toArray, values.toArray)
      val label = if (loss == Squared) values.sum else Math.floorMod(features.take(9).sum + random.nextInt(3), classes)
      LabeledRow(label.toDouble, 1.0 + i % 3, x).toInternal
    }
    val problem = TestProblem.linear.copy(
      algorithm = if (proven) None else Some(Algorithm.LBFGS),
      loss = loss,
      penalty = penalty,
      intercept = intercept,
      tolerance = 1e-7,
      maxRounds = 14,
      numWorkers = Workers,
      aggregation = Some(mode))
    val step: AllWorkers.Step[BlockData, PassMessage, Unit] =
      if (failing) SharedSearchSuite.failing(_, _, _) else counted(_, _, _)
    Using.resource(new LinearTrainer(TrainingReader.read(rows, n, "shared", narrow = false), passStep = step)) {
      _.solve(problem)
    }
  }

  for {
    (name, loss, penalty, intercept, proven) <- Seq(
      ("logistic, L2", Logistic, Penalty(0.0, 0.01, 1.0), true, false),
      ("logistic, both penalties, no intercept", Logistic, Penalty(0.001, 0.01, 1.0), false, false),
      ("three classes, both penalties", Softmax(3), Penalty(0.001, 0.01, 1.0), true, true),
      ("squared, no penalty", Squared, Penalty(0.0, 0.0), true, false),
      ("hinge", Hinge, Penalty(0.0, 0.01, 1.0), true, false))
  } test(s"a gang whose workers have slices finds the driver's model to the bit: $name") {
    calls.set(0)
    val whole = solution(loss, penalty, intercept, Aggregation.Driver, proven)
    assert(calls.get == 0)
    val shared = solution(loss, penalty, intercept, Aggregation.Gang, proven)
    assert(calls.get >= Workers * shared.facts.rounds.map(_.localWork).sum, "the workers keep no slices")
    assert(shared.facts.aggregation == "gang" && whole.facts.aggregation == "driver")
    assert(NativeBridge.stateEntries() == 0L, "leader and workers free their vectors")
    assert(shared.facts.rounds.size > 5, shared.facts.rounds.size)
    assert(shared.facts.rounds.map(_.objective) == whole.facts.rounds.map(_.objective))
    assert(shared.facts.rounds.map(_.localWork) == whole.facts.rounds.map(_.localWork))
    assert(shared.coefficients.count(_ != 0.0) > 20 && shared.coefficients.sameElements(whole.coefficients))
    assert(shared.intercepts.sameElements(whole.intercepts) && shared.facts.dual.equals(whole.facts.dual))
    shared.facts.rounds.tail.foreach { r =>
      assert(r.workerSeconds > 0.0 && r.driverSeconds >= 0.0 && r.driverSeconds <= r.seconds, r.toLine)
    }
  }

  test("workers that keep slices begin again after one of them has failed") {
    val penalty = Penalty(0.0, 0.01, 1.0)
    val undisturbed = solution(Logistic, penalty, intercept = true, Aggregation.Gang)
    calls.set(0)
    val again = solution(Logistic, penalty, intercept = true, Aggregation.Gang, failing = true)
    assert(calls.get > FailingCall && again.facts.restarts == 1, again.facts.restarts)
    assert(again.coefficients.sameElements(undisturbed.coefficients))
  }
}

object SharedSearchSuite {

  /** Fewer leave the vectors to their leader. */
  private val Workers = 4

  private val calls = new AtomicInteger
  private val FailingCall = 18

  /** Counts the passes of workers that keep slices. */
  private def counted(data: BlockData, message: PassMessage, model: Array[Byte]): Contribution[Unit] = {
    if (new Throwable().getStackTrace.exists(_.getClassName.endsWith(".SearchMember"))) calls.incrementAndGet()
    PassStep(data, message, model)
  }

  private def failing(data: BlockData, message: PassMessage, model: Array[Byte]): Contribution[Unit] = {
    if (calls.incrementAndGet() == FailingCall) throw new RuntimeException("a worker is lost")
    PassStep(data, message, model)
  }
}
