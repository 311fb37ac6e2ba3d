package dwell.solver.cd.leader

import dwell.fit.ResultHeaders
import dwell.solver.cd.worker.Subproblem

/**
 * The leader of CoCoA in one orientation. It states the workers' subproblem and turns the sum of their updates into a
 * step. It holds the shared vector of the current iterate and does no communication.
 */
private[solver] trait CdLeader {

  /** Entries of the shared vector. */
  def vectorLength: Int

  /** The shared vector as the workers read it, little endian. */
  def shared: Array[Byte]

  /** Sum of the row weights, S. */
  def totalWeight: Double

  /** The workers' local problem at the current iterate. */
  def subproblem: Subproblem

  /** Weight of the quadratic term of the local models. */
  def sigmaPrime: Double

  /** Step factors at which the workers sample the part of the objective that only they know; two numbers a point. */
  def points: Array[Double]

  /**
   * The most epochs that a round may be worth. The number of rounds falls as 1/H up to one epoch, and hardly beyond a
   * few.
   */
  def mostLocalWork: Double = 16.0

  /** Whether a round has to visit every coordinate equally often. */
  def wholeEpochs: Boolean = false

  /** Lowest primal objective so far: the objective of the model that would be returned. */
  def upperBound: Double

  /** Best lower bound of the optimum so far. */
  def lowerBound: Double

  /** Whether training may stop: the relative gap, or its substitute where no gap exists, is at most `tolerance`. */
  def converged(tolerance: Double): Boolean = upperBound - lowerBound <= tolerance * upperBound

  /** Whether a round is worth a certificate, which costs a pass over the data. */
  def certifies(round: Int, epochs: Double): Boolean = epochs >= CdLeader.CertifyEveryRoundFrom || round % 2 == 0

  /** Updates the bounds from a certificate pass at the current iterate. */
  def certify(headers: ResultHeaders): Unit

  /**
   * Chooses the step factors for the sum of the workers' directions and for the last step, and moves to the new
   * iterate. The objective of the orientation never rises.
   */
  def step(update: Array[Double], headers: ResultHeaders): (Double, Double)

  /**
   * Moves to the iterate whose coordinates have this exact product with the data. Workers and leader both forget their
   * last step in a rebuild.
   *
   * @param continues
   *   whether these are the coordinates of the current iterate, so that any difference is rounding
   */
  def restart(product: Array[Double], headers: ResultHeaders, continues: Boolean): Unit

  /** Whether the last round has to add the steps without a search. */
  def finishes: Boolean = false

  /** Makes the next round the last one. */
  def finish(): Unit = ()

  /** The final verdict on the last step of the fit. */
  def settle(verdict: (Double, Double)): (Double, Double) = verdict

  /** Largest relative difference that a restart has found between a carried value and the same value computed anew. */
  def drift: Double

  /**
   * Coefficients and intercept of the model that `upperBound` belongs to.
   *
   * @param collected
   *   feature ids and values of the nonzero coefficients, from each worker; used in the primal form only
   */
  def model(collected: Array[(Array[Int], Array[Double])], numFeatures: Int): (Array[Double], Double)
}

/** Constants of all leaders. */
private[solver] object CdLeader {

  /** Rounding of an objective, relative to the one at the start. F cannot rise, and no gap can be negative, by more. */
  val Rounding = 1e-9

  /** With this many epochs a round or more, the certificate's pass over the data is a small part of a round. */
  private val CertifyEveryRoundFrom = 2.0
}
