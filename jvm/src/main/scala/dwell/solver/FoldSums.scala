package dwell.solver

import java.util.UUID

import scala.collection.mutable

import dwell.data.FoldedRows
import dwell.data.rows.FeatureFacts
import dwell.fit.FitRunner
import dwell.problem.Loss
import dwell.solver.linear.{FirstPass, LinearProblem}
import dwell.solver.newton.leader.{FirstPassPlan, NewtonFacts, NewtonTask}
import dwell.solver.pass.PassStep
import dwell.spark.NativeLibrary

/**
 * The sums that Newton's method has of a squared loss, by fold of a search: one pass over each fold serves all training sets. All of them are taken
 * at one model and about one centre, the one of all rows.
 *
 * Not for concurrent use: fits take turns.
 */
final class FoldSums(rows: FoldedRows) {

  /** By loss, whether there is an intercept, and fold. */
  private val made = mutable.Map.empty[(Loss, Boolean, Int), FirstPass]

  /** The sums of the training set of these folds. */
  def of(folds: Set[Int]): FoldSums.OfSet = new FoldSums.OfSet(this, folds)

  private def pass(problem: LinearProblem, fold: Int): FirstPass = {
    val (own, loss) = (rows.fold(fold), problem.loss)
    val facts = NewtonFacts(own.numRows, centre, Array.empty, own.labelFacts(loss.labels))
    val start =
      if (problem.intercept) Array(loss.bestConstant(rows.whole.labelFacts(loss.labels)).head)
      else Array.emptyDoubleArray
    val parts = Parts.of(own.blocks(problem.numWorkers, even = false))
    val plan = FirstPassPlan(
      UUID.randomUUID().getMostSignificantBits,
      NewtonTask(problem, loss, facts, first = None, scale = None),
      new Array[Double](facts.numFeatures) ++ start)
    new FitRunner(
      own.sc,
      parts.nonzeros.length,
      parts.all(),
      parts.forBarrier,
      plan,
      PassStep(_, _, _),
      NativeLibrary.free)
      .run()
      .trained
  }

  private def centre: Array[Double] = rows.whole.centre
}

object FoldSums {

  /** How many deviations a mean may be from the common centre. */
  private val Farthest = 10.0

  /** The sums of a training set. */
  final class OfSet private[FoldSums] (sums: FoldSums, folds: Set[Int]) {

    /**
     * Whether they serve a problem on the rows of the set: the loss is squared, every feature may be centred, and the common centre is not far
     * from the mean of the set, beside the deviation. Far away, sums would lose digits.
     */
    private[solver] def serve(problem: LinearProblem, features: FeatureFacts): Boolean =
      problem.loss.selfConcordance.contains(0.0) && problem.bounds.isEmpty && problem.initial.isEmpty &&
        features.mean.indices.forall { j =>
          features.deviation(j) == 0.0 || math.abs(features.mean(j) - centre(j)) <= Farthest * features.deviation(j)
        }

    /** What is subtracted from each feature. */
    private[solver] val centre: Array[Double] = sums.centre

    /** The pass over the rows of the set, of which folds that were not asked for before are read now. */
    private[solver] def first(problem: LinearProblem): FirstPass =
      folds.toSeq.sorted
        .map(fold => sums.made.getOrElseUpdate((problem.loss, problem.intercept, fold), sums.pass(problem, fold)))
        .reduce(_ and _)
  }
}
