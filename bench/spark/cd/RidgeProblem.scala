package dwell.bench.cd

import org.apache.spark.ml.linalg.Vector
import org.apache.spark.mllib.linalg.{Vector => OldVector, Vectors => OldVectors}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{avg, col, lit}

import dwell.data.TrainingReader
import dwell.data.columns.ColumnDataset
import dwell.fit.{Aggregation, SolverSettings}
import dwell.problem.{Algorithm, Orientation, Penalty, Squared}
import dwell.record.RoundRecord
import dwell.solver.LinearTrainer
import dwell.solver.linear.{LinearProblem, LinearSolution}

/**
 * Ridge regression, the problem that the implementations of CoCoA are compared on: labels about their mean, no intercept,
 * no standardisation, a penalty of 1/rows. The data is brought into columns once, so that fits are rounds and nothing else.
 *
 * @param workers
 *   number of partitions, K
 */
private[bench] final class RidgeProblem(val name: String, data: DataFrame, workers: Int) {

  private val centred = {
    val mean = data.agg(avg(col("label"))).first().getDouble(0)
    data.select(col("label") - mean, lit(1.0), col("features"))
  }

  private val rows =
    TrainingReader.read(centred.queryExecution.toRdd, data.first().getAs[Vector]("features").size, name)

  /** The rows as MLlib takes them, in as many partitions. */
  lazy val points: RDD[(Double, OldVector)] =
    centred.rdd.map(row => (row.getDouble(0), OldVectors.fromML(row.getAs[Vector](2)))).repartition(workers).cache()

  /** F of some coefficients. */
  def objective(coefficients: Array[Double]): Double = {
    val sent = OldVectors.dense(coefficients)
    val losses = points.map { case (label, features) => math.pow(label - features.dot(sent), 2) }
    losses.sum() / (2.0 * totalWeight) + 0.5 * l2 * coefficients.map(a => a * a).sum
  }

  val l2: Double = 1.0 / rows.numRows

  lazy val columns: ColumnDataset = rows.columns(workers)

  def numRows: Long = rows.numRows
  def numFeatures: Int = rows.numFeatures
  def labels: Array[Double] = columns.partitions.flatMap(_.labels).collect()
  def totalWeight: Double = rows.totalWeight

  /** A lower bound of the objective over all models, at most 1e-8 below the optimum. */
  lazy val optimum: Double = {
    val solution = fit(RidgeProblem.Searched, localWork = None, rounds = 1000, tolerance = 1e-8)
    require(solution.facts.converged, s"$name: the optimum was not bounded")
    solution.facts.dual
  }

  /** Records of a fit that stops after `rounds` rounds, or at a relative gap of `tolerance`. */
  def rounds(variant: Variant, localWork: Double, rounds: Int, tolerance: Double): Seq[RoundRecord] =
    fit(variant, Some(localWork), rounds, tolerance).facts.rounds

  private def fit(variant: Variant, localWork: Option[Double], rounds: Int, tolerance: Double): LinearSolution = {
    val problem = LinearProblem(
      name,
      Some(Algorithm.CoCoA),
      Squared,
      Penalty(l1 = 0.0, l2 = l2),
      intercept = false,
      tolerance,
      rounds,
      localWork,
      Some(Orientation.Primal),
      workers,
      Some(variant.aggregation),
      RidgeProblem.Seed,
      initial = None,
      SolverSettings(threads = 1, gangPatienceMillis = 10000L, driverBytes = 1L << 30))
    // A solver starts from the last solution it knows; each fit is to start from zero. Closing it would release the data.
    new LinearTrainer(rows, adds = variant.adding).solve(problem)
  }

  /** First of the rounds after which the objective is at most `target` above the optimum, relative to it. */
  def reached(records: Seq[RoundRecord], target: Double): Option[RoundRecord] =
    records.find(_.objective <= (1.0 + target) * optimum)

  /** The records with their distance from the optimum instead of the gap, which not every implementation knows. */
  def suboptimality(records: Seq[RoundRecord]): Seq[RoundRecord] =
    records.map(r => r.copy(gap = math.max(0.0, r.objective - optimum)))
}

private[bench] object RidgeProblem {

  /** Of the order of the coordinates. */
  val Seed = 1L

  /** What users get. */
  val Searched: Variant = Variant(adding = false, Aggregation.Gang)
}

/**
 * A way to make the rounds on Spark.
 *
 * @param adding
 *   steps are added as they are, as the textbook's CoCoA+ does and every reference implementation
 */
private[bench] final case class Variant(adding: Boolean, aggregation: Aggregation)
