package dwell.solver.cd

import scala.util.{Random, Using}

import org.apache.spark.ml.Model
import org.apache.spark.ml.linalg.{Vector, Vectors}
import org.apache.spark.ml.param.Params
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.DataFrame

import dwell.{CheckLong, Listened, SparkSuite}
import dwell.comm.Workers
import dwell.data.{LocalData, TrainingReader}
import dwell.fit.{Aggregation, DwellConf}
import dwell.jni.NativeBridge
import dwell.ml.SetParams
import dwell.ml.classification.{LinearSVC, LogisticRegression}
import dwell.ml.regression.LinearRegression
import dwell.problem.{Algorithm, Hinge, Logistic, MarginLoss, Orientation, Penalty, Squared}
import dwell.record.RoundCompleted
import dwell.report.FitReport
import dwell.solver.{LinearTrainer, TestProblem}
import dwell.solver.cd.worker.{CdMessage, CdReply, CdStep}
import dwell.solver.linear.{LinearProblem, LinearSolution}

/** Rounds on Spark: the same iterates wherever the state is, and the same answer after a loss. */
class RoundLoopSuite extends SparkSuite {

  private lazy val data: DataFrame = {
    val random = new Random(17)
    val rows = Seq.fill(400) {
      val ids = Seq.fill(12)((80 * math.pow(random.nextDouble(), 2.0)).toInt).distinct.sorted
      val x = Vectors.sparse(80, ids.map(i => (i, random.nextGaussian())))
      (x.toArray.take(9).sum + 0.5 * random.nextGaussian(), 0.5 + random.nextDouble(), x: Vector)
    }
    spark.createDataFrame(rows).toDF("label", "w", "features").repartition(3).cache()
  }

  /** The same rows with two classes. */
  private lazy val classes: DataFrame =
    data.select((data("label") > 1.0).cast("double").as("label"), data("w"), data("features")).cache()

  /** Enough for each worker to go through its data several times, and to begin an epoch in the middle of a round. */
  private val Rounds = 6

  private def estimator(k: Int, elasticNet: Double): LinearRegression =
    cocoa(new LinearRegression(), k).setElasticNetParam(elasticNet).setLocalWork(0.7)
  private def logistic(k: Int): LogisticRegression = cocoa(new LogisticRegression(), k).setLocalWork(1.0)
  private def svc(k: Int): LinearSVC = cocoa(new LinearSVC(), k).setLocalWork(1.0)
  private def cocoa[E <: Params](estimator: E, k: Int): E = SetParams(estimator)(
    "algorithm" -> "cocoa",
    "regParam" -> 0.02,
    "weightCol" -> "w",
    "numWorkers" -> k,
    "maxIter" -> Rounds,
    "tol" -> 0.0)

  /** A problem on the rows of [[data]], or of [[classes]]. */
  private def problem(
      loss: MarginLoss,
      in: Orientation,
      k: Int,
      elasticNet: Double = 0.0,
      tolerance: Double = 0.0,
      rounds: Int = Rounds): LinearProblem =
    TestProblem.linear.copy(
      algorithm = Some(Algorithm.CoCoA),
      loss = loss,
      penalty = Penalty(0.02 * elasticNet, 0.02 * (1.0 - elasticNet), scaleFactor = 1.0),
      tolerance = tolerance,
      maxRounds = rounds,
      localWork = Some(if (loss == Squared) 0.7 else 1.0),
      orientation = Some(in),
      numWorkers = k,
      settings = DwellConf(spark).solverSettings)

  private def solved(
      problem: LinearProblem,
      step: Workers.Step[LocalData, CdMessage, CdReply] = CdStep(_, _, _),
      adds: Boolean = false): LinearSolution = {
    val frame = if (problem.loss == Squared) data else classes
    val rows = TrainingReader.read(frame.select("label", "w", "features").queryExecution.toRdd, 80, "rounds")
    Using.resource(new LinearTrainer(rows, step, adds = adds))(_.solve(problem))
  }

  /** The same bits with a state that stays and a state that travels, and with the sums of the driver. */
  private def sameEverywhere(loss: MarginLoss, in: Orientation, k: Int, elasticNet: Double = 0.0): Unit = {
    def told(solution: LinearSolution) =
      (solution.coefficients.toSeq, solution.intercepts.toSeq, solution.facts.rounds.map(r => (r.objective, r.gap)))
    val asked = problem(loss, in, k, elasticNet)
    val base = solved(asked)
    assert(base.facts.orientation == in.name && base.facts.rounds.size == Rounds + 1)
    val before = TravellingStep.count
    val others = Seq(solved(asked.copy(aggregation = Some(Aggregation.Driver))), solved(asked, TravellingStep(_, _, _)))
    assert(TravellingStep.count - before >= k * Rounds)
    others.foreach(other => assert(told(other) == told(base)))
  }

  // The number of workers and the penalty do not meet in the code that keeps and sends states.
  private val primal = Seq((1, 0.0), (2, 1.0), (3, 0.5), (8, 0.0))
  for ((k, elasticNet) <- primal) sameInPrimal(k, elasticNet)
  CheckLong.only(8) {
    for (k <- Seq(1, 2, 3, 8); elasticNet <- Seq(0.0, 0.5, 1.0) if !primal.contains((k, elasticNet)))
      sameInPrimal(k, elasticNet)
  }

  private def sameInPrimal(k: Int, elasticNet: Double): Unit =
    test(s"persistent and travelling state: the same bits, K = $k, elasticNetParam $elasticNet") {
      sameEverywhere(Squared, Orientation.Primal, k, elasticNet)
    }

  for ((k, elasticNet) <- CheckLong.valuesOf(for (k <- Seq(1, 3); e <- Seq(0.0, 0.5)) yield (k, e))) {
    test(s"the same bits in the dual orientation, K = $k, elasticNetParam $elasticNet") {
      sameEverywhere(Squared, Orientation.Dual, k, elasticNet)
    }
  }

  for (k <- Seq(1, 3)) {
    test(s"the same bits for the hinge, K = $k") {
      sameEverywhere(Hinge, Orientation.Dual, k)
    }
    test(s"the same bits for the logistic loss in the primal orientation, K = $k") {
      sameEverywhere(Logistic, Orientation.Primal, k)
    }
  }

  test("plain adding, the reference, ends at the same optimum, and searched steps take no more rounds") {
    Seq(
      problem(Squared, Orientation.Primal, 2, elasticNet = 0.3, tolerance = 1e-6, rounds = 500),
      problem(Logistic, Orientation.Primal, 2, tolerance = 1e-6, rounds = 500),
      problem(Logistic, Orientation.Dual, 2, tolerance = 1e-3, rounds = 500),
      problem(Hinge, Orientation.Dual, 2, tolerance = 1e-2, rounds = 500)).foreach { asked =>
      val (searched, added) = (solved(asked).facts, solved(asked, adds = true).facts)
      assert(searched.converged && added.converged, s"$asked: $added")
      assert(math.abs(searched.objective - added.objective) <= asked.tolerance * added.objective)
      assert(searched.rounds.size <= added.rounds.size, s"$asked: ${searched.rounds.size}, ${added.rounds.size}")
    }
  }

  test("rounds of the hinge are whole epochs, since a bound needs every dual variable within its own") {
    val report = FitReport.of(svc(3).setLocalWork(0.3).setTol(1e-2).setMaxIter(200).fit(classes))
    assert(report.converged && report.rounds.tail.forall(_.localWork == 1.0), report.toText)
  }

  /** Little work in a round, and therefore many rounds: events arrive some time after their round. */
  private val LittleWork = 0.05

  /** Drops every state of this process twice, as if the executor had been replaced. */
  private def losing[T](body: => T): T = {
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case RoundCompleted(_, r) if r.round == 2 || r.round == 6 => NativeBridge.expire(0L)
        case _ =>
      }
    }
    Listened.by(sc, listener)(body)
  }

  for {
    (name, tolerance, fit) <- Seq[(String, Double, () => Model[_])](
      (
        "linear regression",
        1e-6,
        () => estimator(3, 0.3).setLocalWork(LittleWork).setTol(1e-6).setMaxIter(1000).fit(data)),
      (
        "logistic regression, primal",
        1e-6,
        () => logistic(3).setOrientation("primal").setLocalWork(LittleWork).setTol(1e-6).setMaxIter(1000).fit(classes)),
      (
        "logistic regression, dual",
        1e-5,
        () => logistic(3).setOrientation("dual").setTol(1e-5).setMaxIter(300).fit(classes)),
      ("linear SVC", 1e-2, () => svc(3).setTol(1e-2).setMaxIter(300).fit(classes)))
  } test(s"state that is lost in mid-fit is rebuilt, and the fit ends at the same optimum: $name") {
    val (expected, report) = (FitReport.of(fit()), losing(FitReport.of(fit())))
    assert(report.stateLosses > 0 && report.stateLosses % 3 == 0)
    assert(report.converged && expected.converged, report.toText)
    assert(math.abs(report.objective - expected.objective) <= tolerance * expected.objective)
  }

  test("the answer does not depend on K, and gap bounds the true suboptimality in every round") {
    val optimum = FitReport.of(estimator(1, 0.5).setLocalWork(50).setTol(1e-12).setMaxIter(50).fit(data)).objective
    Seq(1, 2, 4, 7).foreach { k =>
      val report = FitReport.of(estimator(k, 0.5).setTol(1e-8).setMaxIter(500).fit(data))
      assert(report.converged && report.objective - optimum <= 1e-8 * report.objective)
      report.rounds.foreach(r => assert(r.gap >= r.objective - optimum - 1e-12 * optimum, s"K = $k, ${r.toLine}"))
    }
  }
}
