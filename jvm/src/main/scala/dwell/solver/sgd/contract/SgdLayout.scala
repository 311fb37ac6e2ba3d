package dwell.solver.sgd.contract

import dwell.base.ResultLayout

/**
 * Layout of models and of what a call of [[SgdSolver]] returns.
 *
 * A model has C (n + 1) entries for n features and C outputs: the coefficient of feature j and output c is entry `j C + c`,
 * the intercept of output c is entry `n C + c`. A result is the header of [[dwell.base.ResultLayout]], with slots of its
 * own meaning, and a vector in the layout of a model. Slots that a call has nothing to say in are 0.
 */
object SgdLayout {

  /**
   * Sum of s_i l over the rows visited, each before its step; with dual numbers, sum of s_i l*(-a_i); infinite where descent
   * diverged; 0 in a search.
   */
  val LossSum: Int = 0

  /** Sum of the weights of the rows that [[LossSum]] or the objectives of a search are of. */
  val WeightSum: Int = 1

  /** Sum of u_j |w_jc| of the shared model. */
  val L1Norm: Int = 2

  /** Sum of u_j^2 w_jc^2 of the shared model. */
  val SquareNorm: Int = 3

  /** 1 where a prediction, a loss, a derivative or an entry of the result was not finite, else 0; always 0 in a search. */
  val Diverged: Int = 4

  /** Rows visited. */
  val Rows: Int = 5

  /** Nonzeros visited. */
  val Nonzeros: Int = 6

  /** Nanoseconds inside the solver. */
  val SolverNanos: Int = 7

  /** Cursor after the call, which only a descent moves; 0 in an evaluation. */
  val Cursor: Int = 9

  /** Steps after the call, likewise. */
  val Steps: Int = 10

  /** Evaluation with a margin loss for classification: sum of s_i p_i over the rows of label 1, p = -y dl/dz. */
  val PositiveSum: Int = 11

  /** The same over the rows of label -1. */
  val NegativeSum: Int = 12

  /** Sum of u_j |w_jc| of what a descent has reached, before it is multiplied by the share. */
  val ReachedL1Norm: Int = 13

  /** Sum of u_j^2 w_jc^2 of it. */
  val ReachedSquareNorm: Int = 14

  /**
   * Descent: how many numbers there are from [[Decay]] on; 0 with an L1 penalty, with a mean of models (unless it diverged),
   * and where they would be more than [[MaxDecays]].
   */
  val Decays: Int = 15

  /**
   * First of the numbers that an entry of the shared model, if it is a coefficient that no step has touched, was multiplied
   * by, one after the other and rounded every time, to what it is in the vector. The last is the share.
   */
  val Decay: Int = 16

  /** So many of them there may be: more are for coefficients that have become as good as 0. */
  val MaxDecays: Int = 24

  /** First objective of a search, that of candidate 0; infinite where it is not finite. */
  val Objectives: Int = 16

  /** Candidates that a search may have. */
  val MaxCandidates: Int = 24

  /** The numbers from [[Decay]] on. */
  def decay(result: Array[Byte]): Array[Double] =
    Array.tabulate(ResultLayout.get(result, Decays).toInt)(k => ResultLayout.get(result, Decay + k))

  /** Entries of a model; an error if a result could not hold them. */
  def entries(features: Int, outputs: Int): Int = {
    val entries = outputs.toLong * (features + 1L)
    require(
      entries <= ResultLayout.MaxRows,
      s"a model of $features features and $outputs outputs has $entries entries, but at most ${ResultLayout.MaxRows} " +
        "fit into an array")
    entries.toInt
  }

  /** Length of a result with a vector, in bytes. */
  def length(features: Int, outputs: Int): Int = ResultLayout.length(entries(features, outputs))

  /** A result with a vector. */
  def allocate(features: Int, outputs: Int): Array[Byte] = new Array[Byte](length(features, outputs))
}
