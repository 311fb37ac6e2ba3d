package dwell.cluster

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, SparkSession}

import dwell.data.LabeledRow
import dwell.solver.{Fault, FaultyFit, LinearSolution, Orientation}

/**
 * What goes wrong on a real cluster: each fit ends with the objective of an undisturbed one, or with an exception that says
 * why, and leaves nothing behind. Run by standalone.py, on two executors that Spark takes to be on two hosts.
 */
object FaultTest extends Harness {
  private val Modes = Seq("driver", "shuffle", "gang")

  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("dwell fault tests").getOrCreate()
    waitForExecutors(spark, 2)
    val data = problem(spark, Features)
    val problems = Seq(Ridge(data), Classification(data))
    for (p <- problems) p.reference // before anything goes wrong
    for (mode <- Modes; p <- problems) exceptions(spark, mode, p)
    finish(spark)
  }

  /** More than one vector of which is sent in slices by a gang of four. */
  private val Features = 9000

  /** The problem of one orientation. */
  private final class Problem(val orientation: String, val numWorkers: Int, rows: RDD[LabeledRow]) {
    def fit(mode: String, faults: Fault*): FaultyFit =
      new FaultyFit(rows, Features, FaultyFit.problem(orientation, mode, numWorkers), faults)

    /** Undisturbed. All modes give the same bits. */
    lazy val reference: LinearSolution = fit("driver").solve()

    def check(solution: LinearSolution): Unit = {
      FaultTest.check(
        solution.converged && solution.solver == "native",
        s"not converged by the native solver: $solution")
      val difference = math.abs(solution.objective - reference.objective)
      val allowed = math.max(solution.gap, reference.gap)
      FaultTest.check(difference <= allowed, s"the objective differs by $difference, more than $allowed")
    }
  }

  /** Primal: two workers, which find slots in one executor when the other one is lost. */
  private def Ridge(data: DataFrame): Problem = new Problem(Orientation.Primal, 2, labeled(data))

  /** Dual: four workers, which need all slots of both executors. */
  private def Classification(data: DataFrame): Problem = new Problem(Orientation.Dual, 4, labeled(binary(data)))

  private def labeled(data: DataFrame): RDD[LabeledRow] =
    data.rdd.map(row => LabeledRow(row.getDouble(0), 1.0, row.getAs[Vector](1)))

  /** A worker throws something in each phase of a round. */
  private def exceptions(spark: SparkSession, mode: String, p: Problem): Unit =
    for (phase <- Seq("round", "rebuild", "start", "collect"); afterWork <- Seq(false, true)) {
      val when = if (afterWork) "after" else "before"
      test(s"$mode, ${p.orientation}: exception $when the work of a $phase") {
        // A worker whose state is lost makes the others rebuild, too.
        val cause = if (phase == "rebuild") Some(Fault(Fault.LoseState, from = 3L)) else None
        val thrown = Fault(Fault.Throw, phase, from = if (phase == "round") 3L else 0L, partition = 1, afterWork)
        val fit = p.fit(mode, cause.toSeq :+ thrown: _*)
        val solution = fit.solve(fits = if (phase == "start") 2 else 1)
        p.check(solution)
        check(fit.happened.forall(_ == 1), fit.happened.toString)
        check(solution.restarts == (if (mode == "gang") 1 else 0), s"${solution.restarts} restarts")
        checkNothingLeft(spark)
      }
    }
}
