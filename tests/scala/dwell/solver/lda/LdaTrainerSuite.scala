package dwell.solver.lda

import org.apache.spark.ml.linalg.{Vector, Vectors}

import dwell.SparkSuite
import dwell.base.SplitMix
import dwell.comm.wire.Numbers
import dwell.data.block.LabeledRow
import dwell.data.documents.DocumentDataset
import dwell.fit.Aggregation
import dwell.jni.{LdaLayout, NativeLoader, ResultHeader}
import dwell.solver.TestProblem
import dwell.solver.lda.leader.{InitialTopics, LdaPlan, LdaTask}
import dwell.solver.lda.worker.{LdaPriors, LdaProblem, LdaRound, LdaSchedule, NativeLda}
import dwell.spark.NativeLibrary

/** A round through Spark against the calls of which it consists. */
class LdaTrainerSuite extends SparkSuite {

  /** Odd numbers of topics and words, so that a vector has padding after its numbers. */
  private val Vocabulary = 31
  private val Topics = 3

  private val problem = LdaProblem(
    "lda",
    LdaPriors(Array(0.5, 0.2, 0.3), 0.1),
    LdaSchedule(10.0, 0.7),
    fraction = 0.8,
    iterations = 1,
    localBatch = Some(4),
    learnAlpha = false,
    aggregation = None,
    seed = 5L,
    settings = TestProblem.settings)

  private def vectors(count: Int): Seq[Vector] = {
    val random = new SplitMix(3L)
    (0 until count).map { _ =>
      Vectors.sparse(
        Vocabulary,
        Seq.fill(6)(random.below(Vocabulary)).distinct.sorted.map(w => (w, 1.0 + random.below(3))))
    }
  }

  test("topics after a round are the average of what each worker makes of its documents, by the documents visited") {
    NativeLoader.ensureLoaded()
    for (workers <- Seq(1, 2, 3)) {
      val data =
        DocumentDataset.read(sc.parallelize(vectors(50), 2).map(LabeledRow.ofVector), Vocabulary, workers, "test")
      try {
        val plan = LdaPlan(1L, LdaTask(problem, Vocabulary, data.documentsPerPartition))
        val budgets = plan.task.budgets(40L)
        val start = InitialTopics(Topics, Vocabulary, problem.seed).entries(0, plan.vectorLength)
        val each = data.partitions.collect().map { part =>
          val r = LdaRound(
            1L,
            problem.seed,
            problem.priors,
            problem.inference,
            problem.schedule.copy(base = 40.0),
            corpus = 50L,
            workers,
            batch = 4,
            budgets(part.index),
            cursor = 0L,
            seen = 0L,
            concentration = false,
            // The test applies the weights itself.
            share = 1.0,
            sample = 0,
            threads = 1)
          val result = new Array[Byte](LdaLayout.length(Vocabulary, Topics, false))
          NativeLda.round(part, r, start, result, () => false)
          Numbers.Floats.values(result.drop(ResultHeader.BYTES))
        }
        val expected = each.toSeq.zip(budgets).map { case (u, n) => u.map(_ * n / budgets.sum) }.transpose.map(_.sum)
        for (mode <- Seq(Aggregation.Gang, Aggregation.Driver, Aggregation.Shuffle)) {
          val solution = LdaTrainer.run(data, problem.copy(aggregation = Some(mode)))
          assert(solution.facts.rounds.size == 2 && solution.lambda.length == Vocabulary * Topics)
          solution.lambda.zip(expected).foreach { case (lambda, u) =>
            // Sums of up to three floats, each rounded.
            assert(
              math.abs(lambda - problem.priors.eta - u) <= 2e-7 * math.max(1.0, u),
              s"$lambda, expected $u, $mode, $workers")
          }
        }
      } finally data.unpersist()
    }
    NativeLibrary.free(1L)
  }

  test("threads of a task change no bit of the topics") {
    val data = DocumentDataset.read(sc.parallelize(vectors(50), 2).map(LabeledRow.ofVector), Vocabulary, 2, "test")
    try {
      val Seq(one, two) = Seq(1, 2).map { threads =>
        LdaTrainer.run(data, problem.copy(learnAlpha = true, settings = problem.settings.copy(threads = threads)))
      }
      assert(one.lambda.sameElements(two.lambda) && one.alpha.sameElements(two.alpha))
      assert(one.facts.objective == two.facts.objective)
    } finally data.unpersist()
  }
}
