package dwell.solver.rows

import scala.util.{Random, Using}

import org.apache.spark.ml.linalg.Vectors

import dwell.SparkSuite
import dwell.comm.wire.Contribution
import dwell.data.TrainingReader
import dwell.data.block.LabeledRow
import dwell.data.rows.BlockData
import dwell.fit.Aggregation
import dwell.jni.ResultHeader
import dwell.problem.{Algorithm, Logistic, Penalty}
import dwell.record.RoundRecord
import dwell.solver.{LinearTrainer, TestProblem}
import dwell.solver.pass.{PassMessage, PassStep}

/** The seconds of the rounds of L-BFGS: a round is an iteration, with an evaluation or several. */
class QuasiNewtonSuite extends SparkSuite {
  import QuasiNewtonSuite._

  private def records(): Seq[RoundRecord] = {
    val rows = sc.parallelize(0 until 60, 2).map { j =>
      val random = new Random(j)
      val x = Array.fill(4)(10.0 * random.nextGaussian())
      LabeledRow(if (x.sum + random.nextGaussian() > 0.0) 1.0 else 0.0, 1.0, Vectors.dense(x)).toInternal
    }
    val problem = TestProblem.linear.copy(
      algorithm = Some(Algorithm.LBFGS),
      loss = Logistic,
      penalty = Penalty(l1 = 0.1, l2 = 0.01),
      tolerance = 0.0,
      maxRounds = 8,
      aggregation = Some(Aggregation.Driver))
    Using.resource(new LinearTrainer(TrainingReader.read(rows, 4, "iterations"), passStep = slow(_, _, _))) {
      _.solve(problem).facts.rounds.tail
    }
  }

  test("an iteration counts the work of all its evaluations, and as the leader's only what it does between them") {
    val rounds = records()
    assert(rounds.exists(_.localWork > 1.0), rounds.map(_.toLine).mkString("\n"))
    rounds.foreach { r =>
      assert(math.abs(r.workerSeconds - r.localWork * Work) < 1e-9, r.toLine)
      assert(r.driverSeconds > 0.0 && r.driverSeconds <= r.seconds - r.localWork * Asleep, r.toLine)
    }
  }
}

object QuasiNewtonSuite {

  /** Seconds of an evaluation, and of it in the solver, as the worker reports. */
  private val Asleep = 0.025
  private val Work = 0.02

  private def slow(data: BlockData, message: PassMessage, model: Array[Byte]): Contribution[Unit] = {
    val answer = PassStep(data, message, model)
    Thread.sleep((1000.0 * Asleep).toLong)
    ResultHeader.put(answer.update, ResultHeader.SOLVER_NANOS, Work * 1e9)
    answer
  }
}
